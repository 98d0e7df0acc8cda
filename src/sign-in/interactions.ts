// The OIDC engine's prompts to a user, for the pages that answer them: read the prompt, answer it, return to the
// engine. A cookie notes the application of a sign-in and the language that it requested (`ui_locales`): for the pages beside the sign-in,
// and for one that has expired, because its interaction is gone by then.

import type { Interaction, InteractionResults } from 'oidc-provider';
import { createStartPages } from '../applications/start-url.ts';
import { type Context, seeOther } from '../base/http/context.ts';
import type { Cookies } from '../base/http/cookies.ts';
import { type AppError, badRequest } from '../base/http/errors.ts';
import { limits } from '../base/limits.ts';
import { bestLanguage } from '../base/texts/languages.ts';
import { t } from '../base/texts/text.ts';
import { engineSeconds } from '../protocols/oidc/engine/library.ts';
import type { SignInServices } from './services.ts';

export type Interactions = ReturnType<typeof createInteractions>;

export function createInteractions({ config: { issuer }, cookies, db, engine }: SignInServices) {
  const startOf = createStartPages({ db, issuer });

  async function answer(ctx: Context, result: InteractionResults): Promise<void> {
    const returnTo = await engine().interactionResult(ctx.req, ctx.res, result, { mergeWithLastSubmission: true });
    seeOther(ctx, returnTo);
  }

  /** The engine binds an interaction to the browser with a cookie, and removes it when it is finished. */
  async function ofBrowser(ctx: Context): Promise<Interaction | undefined> {
    const uid = ctx.cookies.get(engine().cookieName('interaction'), { signed: true });
    return uid ? engine().Interaction.find(uid) : undefined;
  }

  async function forgetSession(interaction: Interaction): Promise<void> {
    delete interaction.session;
    await interaction.save(interaction.exp - engineSeconds());
  }

  /** A sign-in that began a moment ago, whose browser sent no cookie at all to its first page. */
  async function blocksCookies(ctx: Context, uid: string): Promise<boolean> {
    if (ctx.get('Cookie') !== '') return false;
    const begun = await engine().Interaction.find(uid);
    return begun !== undefined && engineSeconds() - begun.iat <= limits.interaction.firstPageSeconds;
  }

  /** The error for a sign-in that has expired or was finished elsewhere, with a link to its application if known. */
  async function expired(ctx: Context, uid: string): Promise<AppError> {
    const clientId = notedIn(cookies, ctx, uid)?.clientId;
    const start = clientId === undefined ? undefined : await startOf(clientId);
    if (!start) return badRequest('sign_in_expired');
    return badRequest('sign_in_expired', {
      next: { href: start.url, label: t('error.go-to-app', { app: start.name }) },
      other: { href: '/dashboard', label: t('page.your-apps') },
    });
  }

  return {
    /** The interaction with this uid, if it began in this browser. */
    async open(ctx: Context, uid: string): Promise<Interaction> {
      const interaction = await ofBrowser(ctx);
      if (!interaction) {
        if (await blocksCookies(ctx, uid)) throw badRequest('cookies_blocked');
        throw await expired(ctx, uid);
      }
      if (interaction.uid !== uid) throw badRequest('other_browser');
      return interaction;
    },

    /**
     * The session of this browser, where it is another one than at the start of the sign-in, because another tab has signed in or out:
     * its account, if it has one. Undefined when nothing has changed. The interaction then has no session any more, in memory.
     */
    async changedSession(
      ctx: Context,
      interaction: Interaction,
    ): Promise<{ accountId: string | undefined } | undefined> {
      const { session } = interaction;
      const { uid, accountId } = await engine().Session.get(ctx);
      if (session?.accountId === accountId && (accountId === undefined || session?.uid === uid)) return undefined;
      delete interaction.session;
      return { accountId };
    },

    /** Stores the interaction without the session of its start, which the engine would compare with that of the browser. */
    forgetSession,

    /** Lets the engine decide anew what the request needs, with the session of this browser. */
    async restart(ctx: Context, interaction: Interaction): Promise<void> {
      await forgetSession(interaction);
      seeOther(ctx, interaction.returnTo);
    },
    /** Answers the prompt and redirects the browser to the engine. */
    answer,
    /**
     * Whether the prompt was answered before: a form was sent twice, or a page was opened again. Then the browser is
     * redirected to the engine.
     */
    resumeIfAnswered(ctx: Context, { result, returnTo }: Interaction): boolean {
      if (!result) return false;
      seeOther(ctx, returnTo);
      return true;
    },
    /** Takes back an answer that the engine has not used yet. */
    async withdraw(ctx: Context): Promise<void> {
      // The interaction may be removed already, together with the old password.
      await (await ofBrowser(ctx))?.destroy();
    },
    /** Returns the error access_denied to the application (RFC 6749 4.1.2.1). */
    deny: (ctx: Context, description: string): Promise<void> =>
      answer(ctx, { error: 'access_denied', error_description: description }),
  };
}

/** The application of this sign-in and the language that it requests, as this browser noted them. */
function notedIn(cookies: Cookies, ctx: Context, uid: string) {
  const [noted, clientId = '', language] = cookies.get(ctx, 'signInFor')?.split('.') ?? [];
  if (noted !== uid) return undefined;
  return { clientId: Buffer.from(clientId, 'base64url').toString(), languages: language ? [language] : [] };
}

/** Gives the response the brand of the application of this sign-in, and the language that it requests. */
export function recallSignIn(cookies: Cookies, ctx: Context, uid: string): void {
  const noted = notedIn(cookies, ctx, uid);
  if (!noted) return;
  ctx.state.request.application = noted.clientId;
  ctx.state.requestedLanguages = noted.languages;
}

/** Notes in this browser which application the sign-in is for, and which of the offered languages it requests. */
export function noteSignIn(cookies: Cookies, ctx: Context, uid: string, clientId: string): void {
  const language = bestLanguage(ctx.state.requestedLanguages ?? [], ctx.state.offeredLanguages().tags);
  const application = Buffer.from(clientId).toString('base64url');
  cookies.set(ctx, 'signInFor', [uid, application, language].filter((part) => part !== undefined).join('.'));
}
