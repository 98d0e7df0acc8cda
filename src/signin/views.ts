// Which page shows which step, and with what.
import type { Client } from 'oidc-provider';
import type { Context } from '../http/context.ts';
import { timeInWords } from '../http/errors.ts';
import { limits } from '../limits.ts';
import type { CaptchaQuestion, Waiting } from '../rate-limits/captcha.ts';
import type { Refusals } from '../refusals/refusals.ts';
import { askedFor, consentScopes, describe } from './consent.ts';
import type { ExpiredSignIns } from './expired.ts';
import type { FactorPages } from './factor-pages.ts';
import type { OpenStep } from './steps.ts';

export interface Shown {
  problem?: string;
  /** A way on from the problem. */
  next?: { href: string; label: string };
  loginHint?: string;
  status?: number;
  /** The wait in place of the CAPTCHA that goes on. */
  waiting?: Waiting | undefined;
  /** Which way of the second step to show. */
  method?: string;
  /** A begun enrolment. */
  sealed?: string;
}

export interface Views {
  show(ctx: Context, open: OpenStep, shown?: Shown): Promise<void>;
  /** The same page again, with how long to wait (429). */
  wait(ctx: Context, open: OpenStep, retryAfterSeconds: number, shown?: Shown): Promise<void>;
}

export interface ViewsNeeds {
  findClient(clientId: string): Promise<Client | undefined>;
  factorPages: FactorPages;
  /** Shortest password that this person may choose. */
  minPasswordLength(accountId: string): Promise<number>;
  /** The CAPTCHA that the sign-in form for this login has to hold. */
  captchaFor(ctx: Context, login: string, waiting?: Waiting): Promise<CaptchaQuestion | undefined>;
  refusals: Pick<Refusals, 'keep'>;
  expired: Pick<ExpiredSignIns, 'note'>;
  /** Links beside the sign-in form, where those pages exist. */
  links: { forgotPassword?: string; register?: string };
}

export function createViews(needs: ViewsNeeds): Views {
  const { findClient, factorPages, minPasswordLength, captchaFor, refusals, expired, links } = needs;
  const views: Views = {
    async show(ctx, open, shown = {}) {
      const { problem, next, loginHint, status = 200, waiting } = shown;
      const { account, interaction, attempt } = open;
      expired.note(ctx, attempt.uid, open.clientId);
      const client = await findClient(open.clientId);
      const appName = client?.clientName ?? open.clientId;
      const at = (action: string) => `/signin/${attempt.uid}/${action}`;
      const foot = { who: account?.username, cancelAction: at('cancel'), appName };
      switch (open.step) {
        case 'identify': {
          const hint = attempt.wantsOther ? '' : (account?.username ?? String(interaction.params.login_hint ?? ''));
          const page = { action: at('password'), cancelAction: at('cancel'), appName, problem, next };
          const login = loginHint ?? hint;
          return ctx.render(
            'sign-in/identify',
            {
              ...page,
              loginHint: login,
              captcha: await captchaFor(ctx, login, waiting),
              forgotPasswordUrl: links.forgotPassword && `${links.forgotPassword}?signin=${attempt.uid}`,
              registerUrl: links.register && `${links.register}?signin=${attempt.uid}`,
              passkey: open.needsPassword ? undefined : await factorPages.passkeyOffer(open),
            },
            status,
          );
        }
        case 'second-factor':
          return factorPages.showSecondFactor(ctx, open, {
            ...shown,
            method: shown.method ?? String(ctx.query.method ?? ''),
            foot,
          });
        case 'enrol':
          return factorPages.showEnrolment(ctx, open, { ...shown, foot });
        case 'change-password':
          return ctx.render(
            'sign-in/change-password',
            {
              action: at('new-password'),
              username: account?.username,
              minLength: account ? await minPasswordLength(account.id) : limits.password.minWithoutMfa,
              reason:
                'Your password was given to you by somebody else, or must be changed. Choose one that only you know.',
              problem,
              ...foot,
            },
            status,
          );
        case 'select-account':
          return ctx.render('sign-in/select-account', { action: at('account'), appName, account });
        case 'refused':
          return ctx.render(
            'sign-in/refused',
            {
              action: at('account'),
              appName,
              account,
              requestId: ctx.state.request.requestId,
              refusal: refusals.keep(ctx.state.request, {
                endpoint: 'access',
                reason: 'access_denied',
                message: 'The account has none of the roles that the application is open to.',
                clientId: open.clientId,
                subjectId: account?.id,
                received: { user: account?.username ?? '' },
              }),
            },
            403,
          );
        case 'consent': {
          if (!account) throw new Error('a consent question without an account');
          const asked = askedFor(interaction, consentScopes);
          return ctx.render('sign-in/consent', {
            action: at('consent'),
            appName,
            appUrl: client?.clientUri,
            appHost: client?.clientUri ? new URL(client.clientUri).host : undefined,
            policyUrl: client?.policyUri,
            termsUrl: client?.tosUri,
            account,
            ...describe(asked, account),
          });
        }
        case 'done':
          throw new Error('a finished sign-in has no page');
      }
    },

    wait(ctx, open, retryAfterSeconds, shown) {
      ctx.set('Retry-After', String(retryAfterSeconds));
      const problem = `There were too many attempts. Wait ${timeInWords(retryAfterSeconds)} and try again.`;
      return views.show(ctx, open, { problem, ...shown, status: 429 });
    },
  };
  return views;
}
