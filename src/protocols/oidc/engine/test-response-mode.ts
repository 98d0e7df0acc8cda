// The response mode of tests that administrators run: the authorization response goes to the console instead of the
// application. The request is the real one, with the application's own redirect URI, rules and pages; only this last step differs, so a test
// cannot drift from a sign-in, and no client needs a redirect URI of this server. Accepted only for a test that was
// started in this browser (protocols/oidc/engine/requests/request-checks.ts, protocols/oidc/store/test-tickets.ts).
import { seeOther } from '../../../base/http/context.ts';
import type { KoaContextWithOIDC } from './library.ts';

export const TEST_MODE = 'gatehouse_test';
const TEST_CALLBACK = '/admin/test/callback';

/** The handler for `registerResponseMode`. */
export async function respondToTest(
  ctx: KoaContextWithOIDC,
  _redirectUri: string,
  payload: Record<string, unknown>,
): Promise<void> {
  const parameters = Object.entries(payload).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
  seeOther(ctx, `${TEST_CALLBACK}?${new URLSearchParams(parameters)}`);
}
