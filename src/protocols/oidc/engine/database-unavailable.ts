// The engine's responses while the database cannot be used. To programs: 503 with Retry-After and `temporarily_unavailable` in the form
// of RFC 6749 5.2, never an error such as invalid_grant, after which a client discards its tokens. At the authorization endpoint
// the engine redirects with `temporarily_unavailable` (RFC 6749 4.1.2.1), if it could read the client; otherwise it renders a page.
import type { Context } from '../../../base/http/context.ts';
import { databaseUnavailable, RETRY_AFTER } from '../../../base/http/database-unavailable.ts';
import { type DatabaseUnavailable, unavailableIn } from '../../../base/storage/unavailable.ts';
import { isForPrograms } from './routes.ts';

/** Runs the engine, with the response above instead of any other when the database could not be used. */
export async function answerWithDatabase(ctx: Context, run: () => Promise<void>): Promise<void> {
  const isProgram = isForPrograms(ctx.path);
  try {
    await run();
    const { databaseFailure } = ctx.state;
    if (databaseFailure) logFailure(ctx, databaseFailure);
    if (databaseFailure && isProgram) answerPrograms(ctx, databaseFailure);
  } catch (error) {
    const unavailable = unavailableIn(error);
    if (!unavailable || !isProgram) throw error;
    logFailure(ctx, unavailable);
    answerPrograms(ctx, unavailable);
  }
}

/** For the engine's error events, whose errors may have this cause: the response is the one above. */
export function noteDatabaseFailure(ctx: Context, error: unknown): boolean {
  const unavailable = unavailableIn(error);
  if (!unavailable) return false;
  ctx.state.databaseFailure = unavailable;
  return true;
}

function answerPrograms(ctx: Context, unavailable: DatabaseUnavailable): void {
  ctx.state.errorCode = databaseUnavailable(unavailable)?.code;
  const { error, error_description } = unavailable;
  ctx.remove('WWW-Authenticate'); // the credentials were not checked
  ctx.status = unavailable.status;
  ctx.set({ ...RETRY_AFTER, 'Cache-Control': 'no-store' });
  ctx.body = { error, error_description };
}

function logFailure({ state, method, path }: Context, { logFields: detail }: DatabaseUnavailable): void {
  state.log().error({ problem: 'unavailable', method, path, detail }, 'request failed');
}
