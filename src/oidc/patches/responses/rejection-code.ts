// Patch behind the engine: an error that it sends back to the application by redirect gets the code under which an
// administrator finds the rejected request in the console.
import type { Context } from '../../../http/context.ts';
import { withCode } from '../../engine/error-description.ts';

/** @param code of the request's rejection; undefined when it was not rejected */
export function addRejectionCode(ctx: Context, code: string | undefined): void {
  const location = String(ctx.response.get('Location') ?? '');
  if (!code || !URL.canParse(location)) return;
  const url = new URL(location);
  if (!url.searchParams.has('error')) return;
  url.searchParams.set('error_description', withCode(url.searchParams.get('error_description') ?? undefined, code));
  ctx.set('Location', url.href);
}
