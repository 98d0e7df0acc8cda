// Patch: LOOPBACKS.has. The engine's own list of loopback hosts is localhost, 127.0.0.1 and ::1; for native clients it rejects
// http on any other host, and allows any port on these (RFC 8252 7.3). Here *.localhost (RFC 6761 6.3) and all of 127.0.0.0/8 are
// loopback too, as in applications/uris.ts.
import { isLoopback } from '../../../../base/config/addresses.ts';
import { LOOPBACKS } from '../../engine/library.ts';

/** Replaces the check of the engine's list, which all its clients share. */
export function extendLoopbackHosts(): void {
  LOOPBACKS.has = isLoopback;
}
