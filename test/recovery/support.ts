// The steps of a password reset, as a user takes them.
import type { Services } from '../../src/server/services.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import type { Mailbox, ReceivedMail } from '../support/mailbox.ts';

export const NEW_PASSWORD = 'seven green umbrellas in march';

/** Sends the form of /forgot-password, in a new browser unless one is given. */
export async function forgot(idp: TestIdp, username: string, browser = httpClient(idp.issuer)): Promise<Page> {
  return browser.submit(await browser.get('/forgot-password'), { username });
}

/** The link with a token in a mail. */
export function linkIn(mail: ReceivedMail): string {
  const links = mail.text.match(/https?:\/\/\S+\?token=\S+/g) ?? [];
  if (links.length !== 1 || !links[0]) throw new Error(`${links.length} links in the mail:\n${mail.text}`);
  return links[0];
}

/** Requests a reset and waits for the mail with its link. */
export async function resetLink(idp: TestIdp, box: Mailbox, username: string, email: string): Promise<string> {
  await forgot(idp, username);
  return linkIn(await mailOf(box, email, 'Reset your password'));
}

/** The next mail to this address with this subject; others are skipped. */
export async function mailOf(box: Mailbox, email: string, subject: string): Promise<ReceivedMail> {
  for (;;) {
    const mail = await box.waitForMail(email);
    if (mail.subject === subject) return mail;
  }
}

/** Opens a link in a new browser, up to the form. */
export async function open(idp: TestIdp, link: string): Promise<{ browser: HttpClient; page: Page }> {
  const browser = httpClient(idp.issuer);
  return { browser, page: await browser.follow(await browser.get(link)) };
}

/** Opens the link and sets the password with it. */
export async function redeem(idp: TestIdp, link: string, password = NEW_PASSWORD): Promise<Page> {
  const { browser, page } = await open(idp, link);
  if (page.status !== 200) return page;
  return browser.follow(await browser.submit(page, { password }));
}

/** Which of the passwords works now. */
export async function passwordWorks({ accounts, credentials }: Services, id: string, password: string) {
  return (await credentials.checkPassword(await accounts.find(id), password)).outcome;
}

/** Resolves when the mail job has processed the whole outbox. */
export async function mailIsIdle({ db }: Services): Promise<void> {
  for (let tries = 0; tries < 600; tries += 1) {
    const waiting = await db.mailMessage.count({ where: { sentAt: null, failedAt: null } });
    if (waiting === 0) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('mail is still waiting');
}
