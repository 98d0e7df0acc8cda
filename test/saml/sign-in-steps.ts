// The steps of a sign-in for SAML tests, with a browser without a screen: password, code or passkey.
import { generateSync } from 'otplib';
import { parseAttestation } from '../../src/people/mfa/factors/webauthn-ceremony.ts';
import type { Services } from '../../src/server/services.ts';
import { softAuthenticator } from '../mfa/authenticator.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import type { HttpClient, Page } from '../support/http.ts';

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';

export interface SamlUser extends TestUser {
  /** Sets up an authenticator app; `withCode` then enters its code. */
  addApp(): Promise<void>;
  /** Fills in what the page asks for, and comes to the next one. */
  withPassword(browser: HttpClient, page: Page): Promise<Page>;
  withCode(browser: HttpClient, page: Page): Promise<Page>;
  withPasskey(browser: HttpClient, page: Page): Promise<Page>;
}

export async function aSamlUser(
  services: Services,
  profile: Parameters<typeof aUser>[1] & { passkey?: boolean } = {},
): Promise<SamlUser> {
  const { passkey = false, ...rest } = profile;
  const user = await aUser(services, rest);
  const { issuerUrl } = services.config;
  const device = softAuthenticator();
  const ceremony = { origin: issuerUrl.origin, rpId: issuerUrl.hostname };
  if (passkey) {
    const { challenge } = await services.mfa.passkeys.registrationOptions(user.account);
    const answer = parseAttestation(device.create({ challenge, ...ceremony }));
    if (!answer) throw new Error('the device gave no answer');
    await services.mfa.passkeys.register(user.account, answer, { challenge, name: 'Phone' });
  }
  const submit = async (browser: HttpClient, page: Page, fields: Record<string, string>, form?: string) =>
    browser.follow(await browser.submit(page, fields, form ? { form } : {}));
  return {
    ...user,
    addApp: async () => void (await services.mfa.totp.importSecret(user.account.id, SECRET)),
    withPassword: (browser, page) => submit(browser, page, { username: user.username, password: user.password }),
    withCode: (browser, page) => submit(browser, page, { code: generateSync({ secret: SECRET }) }),
    withPasskey(browser, page) {
      const options = /data-options="([^"]*)"/.exec(page.text)?.[1]?.replaceAll('&quot;', '"') ?? '{}';
      const { challenge } = JSON.parse(options) as { challenge: string };
      const response = device.get({ challenge, userHandle: user.account.id, ...ceremony });
      return submit(browser, page, { response }, '/passkey');
    },
  };
}
