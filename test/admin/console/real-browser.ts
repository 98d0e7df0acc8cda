// Signing in with a real browser.
import type { Page } from '../../support/browser/browser.ts';
import { PASSWORD, type TestUser } from '../../support/factories.ts';

/** On the sign-in page; ends on the page that was requested. */
export async function signIn(page: Page, user: Pick<TestUser, 'username'>): Promise<void> {
  await page.fill('[name=username]', user.username);
  await page.fill('[name=password]', PASSWORD);
  await page.click('button.btn-primary');
}
