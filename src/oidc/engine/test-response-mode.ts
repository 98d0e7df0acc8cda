// The response mode of tests that administrators run: the authorization response goes to the console instead of the
// application (docs/decisions/0020-test-sign-in-response-mode.md). Accepted only for a test that was
// started in this browser (oidc/engine/requests/request-checks.ts, oidc/store/test-tickets.ts).
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
  ctx.status = 303;
  ctx.redirect(`${TEST_CALLBACK}?${new URLSearchParams(parameters)}`);
}
