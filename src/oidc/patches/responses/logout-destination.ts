// Patch after the engine: after a confirmed logout it redirects to the post_logout_redirect_uri at once. When the logout
// also has to reach other applications through the browser, it goes to that logout run first (src/logout).
import type { Context } from '../../../http/context.ts';

/** `logoutRunPath` is set while the session is ended (store/sessions/session-adapter.ts). */
export function redirectToLogoutRun(ctx: Context): void {
  if (ctx.state.logoutRunPath) ctx.redirect(ctx.state.logoutRunPath);
}
