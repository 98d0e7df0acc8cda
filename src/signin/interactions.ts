// The engine's questions to a person, for the pages that answer them: read one, answer it, go back to the engine.
import type { Interaction, InteractionResults } from 'oidc-provider';
import type { Context } from '../http/context.ts';
import { badRequest } from '../http/errors.ts';
import type { ExpiredSignIns } from './expired.ts';

/** What the sign-in pages need of the engine; handed in by the composition root. */
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
  /** The question of this page, if this browser was asked it. */
  open(ctx: Context, uid: string): Promise<Interaction>;
  /** Answers the question and sends the browser back to the engine. */
  answer(ctx: Context, result: InteractionResults): Promise<void>;
  /** Whether the question was answered: a form was sent twice, or a page opened again. Then the browser goes on. */
  goesOn(ctx: Context, interaction: Pick<Interaction, 'result' | 'returnTo'>): boolean;
  /** Takes an answer back that the engine has not acted on yet. */
  withdraw(ctx: Context): Promise<void>;
  /** Tells the application that the person does not go on (RFC 6749 4.1.2.1). */
  refuse(ctx: Context, description: string): Promise<void>;
}

export interface InteractionsNeeds {
  engine(): InteractionEngine;
  expired: Pick<ExpiredSignIns, 'refusal'>;
}

export function createInteractions({ engine, expired }: InteractionsNeeds): Interactions {
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
          // The engine ties a question to the browser by a cookie; without it, or when it was answered, there is none.
          if (cause instanceof Error && cause.name === 'SessionNotFound') throw await expired.refusal(ctx, uid, cause);
          throw cause;
        });
      if (interaction.uid !== uid) throw badRequest('other_browser');
      return interaction;
    },
    answer,
    goesOn(ctx, { result, returnTo }) {
      if (!result) return false;
      ctx.status = 303;
      ctx.redirect(returnTo);
      return true;
    },
    async withdraw(ctx) {
      const open = await engine()
        .interactionDetails(ctx.req, ctx.res)
        .catch(() => undefined); // gone already, with the old password
      await open?.destroy();
    },
    refuse: (ctx, description) => answer(ctx, { error: 'access_denied', error_description: description }),
  };
}
