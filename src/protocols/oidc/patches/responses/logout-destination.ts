// Patch after the engine: after a confirmed logout it redirects to the post_logout_redirect_uri at once. When the logout
// also has to reach other applications through the browser, it goes to that logout run first (src/protocols/logout). The engine's own page at the
// end gets the languages of the request.
import type { Context } from '../../../../base/http/context.ts';
import { languagesOf, withUiLocales } from '../../../../base/http/pages/language.ts';
import { routes } from '../../engine/configuration.ts';

/** `logoutRunPath` is set while the session is ended (store/sessions/session-adapter.ts). */
export function redirectToLogoutRun(ctx: Context): void {
  if (ctx.state.logoutRunPath) {
    ctx.redirect(ctx.state.logoutRunPath);
    return;
  }
  if (ctx.path !== `${routes.end_session}/confirm`) return;
  // Koa returns undefined for a header that is not set.
  const destination = (ctx.response.get('Location') as string | undefined) ?? '';
  if (destination.split('?')[0]?.endsWith(`${routes.end_session}/success`))
    ctx.redirect(withUiLocales(destination, languagesOf(ctx.query.ui_locales)));
}
