// The OIDC engine's prompts to a user, for the pages that answer them: read the prompt, answer it, return to the
// engine.
import type { Interaction, InteractionResults } from 'oidc-provider';
import type { Context } from '../http/context.ts';
import { badRequest } from '../http/errors.ts';
import type { ExpiredSignIns } from './expired-sign-in.ts';

/** The part of oidc-provider that the sign-in pages use. */
export interface InteractionEngine {
  interactionDetails(req: Context['req'], res: Context['res']): Promise<Interaction>;
  interactionResult(
    req: Context['req'],
    res: Context['res'],
    result: InteractionResults,
    options: { mergeWithLastSubmission: boolean },
  ): Promise<string>;
}

export interface Interactions {
  /** The interaction with this uid, if it began in this browser. */
  open(ctx: Context, uid: string): Promise<Interaction>;
  /** Answers the prompt and redirects the browser to the engine. */
  answer(ctx: Context, result: InteractionResults): Promise<void>;
  /**
   * Whether the prompt was answered before: a form was sent twice, or a page was opened again. Then the browser is
   * redirected to the engine.
   */
  resumeIfAnswered(ctx: Context, interaction: Pick<Interaction, 'result' | 'returnTo'>): boolean;
  /** Takes back an answer that the engine has not used yet. */
  withdraw(ctx: Context): Promise<void>;
  /** Returns the error access_denied to the application (RFC 6749 4.1.2.1). */
  deny(ctx: Context, description: string): Promise<void>;
}

export interface InteractionsDependencies {
  engine(): InteractionEngine;
  expiredSignIns: Pick<ExpiredSignIns, 'errorFor'>;
}

export function createInteractions({ engine, expiredSignIns }: InteractionsDependencies): Interactions {
  async function answer(ctx: Context, result: InteractionResults): Promise<void> {
    const returnTo = await engine().interactionResult(ctx.req, ctx.res, result, { mergeWithLastSubmission: true });
    ctx.status = 303;
    ctx.redirect(returnTo);
  }

  return {
    async open(ctx, uid) {
      const interaction = await engine()
        .interactionDetails(ctx.req, ctx.res)
        .catch(async (cause: unknown) => {
          // The engine binds an interaction to the browser with a cookie, and removes it when it is finished.
          if (cause instanceof Error && cause.name === 'SessionNotFound')
            throw await expiredSignIns.errorFor(ctx, uid, cause);
          throw cause;
        });
      if (interaction.uid !== uid) throw badRequest('other_browser');
      return interaction;
    },
    answer,
    resumeIfAnswered(ctx, { result, returnTo }) {
      if (!result) return false;
      ctx.status = 303;
      ctx.redirect(returnTo);
      return true;
    },
    async withdraw(ctx) {
      const interaction = await engine()
        .interactionDetails(ctx.req, ctx.res)
        .catch(() => undefined); // removed already, together with the old password
      await interaction?.destroy();
    },
    deny: (ctx, description) => answer(ctx, { error: 'access_denied', error_description: description }),
  };
}
