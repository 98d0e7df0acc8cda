// The response mode of tests that administrators run: the answer of the authorization endpoint goes to the console instead of
// the application. Answered only for a test that was begun in this browser (admission.ts, test-tickets.ts).
import type { KoaContextWithOIDC } from './library.ts';

export const TEST_MODE = 'gatehouse_test';
export const TEST_CALLBACK = '/admin/test/callback';

/** The handler for `registerResponseMode`. */
export async function respondToTest(
  ctx: KoaContextWithOIDC,
  _redirectUri: string,
  payload: Record<string, unknown>,
): Promise<void> {
  const told = Object.entries(payload).filter((pair): pair is [string, string] => typeof pair[1] === 'string');
  ctx.status = 303;
  ctx.redirect(`${TEST_CALLBACK}?${new URLSearchParams(told)}`);
}
