// What the pages of the second step hold: which way is offered first and which others there are, the options for a
// passkey (whose challenge the attempt keeps), and the QR code of a new app.
import QRCode from 'qrcode';
import type { Account } from '../accounts/account.ts';
import type { Context } from '../http/context.ts';
import { masked as maskedAddress } from '../mail/wording.ts';
import { PHISHING_RESISTANT_ACR } from '../mfa/acr.ts';
import type { OnePersonsKeys, Passkeys } from '../mfa/passkeys.ts';
import { masked as maskedNumber } from '../mfa/phone.ts';
import type { SecondFactor } from '../mfa/policy.ts';
import type { Totp } from '../mfa/totp.ts';
import type { Attempts } from './attempts.ts';
import type { CodeMethod } from './second-factor.ts';
import type { OpenStep } from './steps.ts';

export interface FactorPages {
  /** For the sign-in page: passkeys of this device, offered in the user-name field. */
  passkeyOffer(open: OpenStep): Promise<object>;
  showSecondFactor(ctx: Context, open: OpenStep, shown: ShownFactor): Promise<void>;
  showEnrolment(ctx: Context, open: OpenStep, shown: ShownFactor): Promise<void>;
}

export interface ShownFactor {
  problem?: string | undefined;
  status?: number;
  method?: string | undefined;
  /** A begun enrolment, for the page after a wrong code. */
  sealed?: string | undefined;
  foot: Foot;
}

/** Below a later step: whose sign-in it is, and the way out of it. */
export interface Foot {
  who: string | undefined;
  cancelAction: string;
  appName: string;
}

export interface FactorPagesNeeds {
  attempts: Attempts;
  passkeys: Passkeys;
  totp: Totp;
  /** For how many days a browser may be trusted; 0 offers nothing. */
  rememberDays(): number;
}

const HINTS = {
  totp: 'Enter the code that your authenticator app shows.',
  'recovery-code': 'Enter one of your recovery codes. Each works once.',
};
const LABELS: Record<SecondFactor, string> = {
  passkey: 'Use a passkey',
  totp: 'Use the authenticator app',
  email: 'Get a code by e-mail',
  sms: 'Get a code by SMS',
  'recovery-code': 'Use a recovery code',
};

export function createFactorPages({ attempts, passkeys, totp, rememberDays }: FactorPagesNeeds): FactorPages {
  async function keep<Options extends { challenge: string }>({ attempt }: OpenStep, options: Options): Promise<string> {
    await attempts.save({ ...attempt, challenge: options.challenge });
    return JSON.stringify(options);
  }

  const at = ({ attempt }: OpenStep, action: string) => `/signin/${attempt.uid}/${action}`;

  return {
    async passkeyOffer(open) {
      const options = await keep(open, await passkeys.authenticationOptions());
      return { action: at(open, 'passkey'), mode: 'autofill', options, label: 'Sign in with a passkey' };
    },

    async showSecondFactor(ctx, open, { problem, status = 200, method: wanted, foot }) {
      const methods = open.methods as SecondFactor[];
      const method = methods.find((one) => one === wanted) ?? methods[0];
      if (!method || !open.account) throw new Error('a second factor was asked for, and none is there');
      const others = methods
        .filter((one) => one !== method)
        .map((one) => ({ href: `/signin/${open.attempt.uid}?method=${one}`, label: LABELS[one] }));
      const page = { others, problem, rememberDays: rememberDays(), ...foot };
      if (method === 'passkey') {
        const options = await keep(open, await passkeys.authenticationOptions(ownersKeys(open)));
        const { rememberDays: days } = page;
        const ask = { action: at(open, 'passkey'), mode: 'get', options, label: 'Use my passkey', isPrimary: true };
        ctx.render('sign-in/passkey', { ...page, passkey: { ...ask, rememberDays: days } }, status);
        return;
      }
      const send = sending(open, method);
      const form = { action: at(open, 'code'), method, isNumeric: method !== 'recovery-code' };
      ctx.render('sign-in/second-factor', { ...page, ...form, send, hint: hintOf(open, method, send) }, status);
    },

    async showEnrolment(ctx, open, { problem, status = 200, sealed, foot }) {
      const { account } = open;
      if (!account) throw new Error('an enrolment without an account');
      const options = await keep(open, await passkeys.registrationOptions(account, mustVerify(open)));
      const passkey = {
        action: at(open, 'enrol-passkey'),
        mode: 'create',
        options,
        name: 'My passkey',
        label: 'Set up a passkey',
      };
      const app = open.methods.includes('totp') ? await appEnrolment(account, sealed) : undefined;
      ctx.render(
        'sign-in/enrol',
        { passkey, totp: app && { action: at(open, 'enrol-totp'), ...app }, problem, ...foot },
        status,
      );
    },
  };

  /** Codes are sent when asked for: opening a page sends nothing. */
  function sending(open: OpenStep, method: CodeMethod) {
    if (method !== 'email' && method !== 'sms') return undefined;
    return { action: at(open, 'send-code'), method, isFirst: open.attempt.sent !== method };
  }

  async function appEnrolment(account: Account, sealed: string | undefined) {
    const enrolment = (sealed ? totp.resume(account, sealed) : undefined) ?? totp.begin(account);
    const svg = await QRCode.toString(enrolment.uri, { type: 'svg', margin: 0 });
    return { ...enrolment, qr: `data:image/svg+xml;base64,${Buffer.from(svg).toString('base64')}` };
  }
}

/** Whose key it must be, and whether the key alone has to do. */
export function ownersKeys(open: OpenStep): OnePersonsKeys | undefined {
  return open.account && { userId: open.account.id, mustVerify: mustVerify(open) };
}

/** Only a passkey that verifies its user is as strong as this step has to be. */
export function mustVerify({ level }: OpenStep): boolean {
  return level === PHISHING_RESISTANT_ACR;
}

function hintOf({ channels }: OpenStep, method: CodeMethod, send: { isFirst: boolean } | undefined): string {
  if (!send || (method !== 'email' && method !== 'sms')) return HINTS[method as keyof typeof HINTS];
  const to = channels[method] ?? '';
  const place = method === 'email' ? maskedAddress(to) : maskedNumber(to);
  return send.isFirst ? `We send a code to ${place}.` : `Enter the code that was sent to ${place}.`;
}
