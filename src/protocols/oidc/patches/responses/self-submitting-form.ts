// Patch behind the engine: it writes one page of its own, a form that submits itself (response_mode=form_post, and the steps
// between its own pages), with an inline script and no style. Here its fields are displayed on a page of this server, under the
// Content-Security-Policy that forbids inline scripts.
import type { Context } from '../../../../base/http/context.ts';
import { languagesOf, withUiLocales } from '../../../../base/http/pages/language.ts';
import { engineContext } from '../../engine/app-context.ts';
import { routes } from '../../engine/configuration.ts';

interface SelfSubmittingForm {
  action: string;
  fields: Record<string, string>;
}

const TITLE = '<title>Submitting Callback</title>';
const ENTITIES: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" };

/** @param contentSecurityPolicy the header as it was before the engine added the hash of its script */
export function renderSelfSubmittingForm(ctx: Context, contentSecurityPolicy: string | string[]): void {
  const form = readForm(ctx.body);
  if (!form) return;
  ctx.set('Content-Security-Policy', contentSecurityPolicy);
  const { pathname } = new URL(form.action);
  // A logout without a session: its end has the language that the request asks for.
  if (pathname === `${routes.end_session}/confirm`) {
    const languages = languagesOf(engineContext(ctx)?.params?.ui_locales);
    ctx.state.requestedLanguages = languages;
    form.action = withUiLocales(form.action, languages);
  }
  ctx.render('form-post', form, ctx.status);
}

/** The form of such a page; undefined for any other response. Throws when the engine writes it in another way. */
function readForm(body: unknown): SelfSubmittingForm | undefined {
  if (typeof body !== 'string' || !body.includes(TITLE)) return undefined;
  const action = /<form method="post" action="([^"]*)">/.exec(body)?.[1];
  if (action === undefined) throw new Error('the engine writes its form in another way than expected');
  // The engine escapes values, so no quote ends one early.
  const inputs = body.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"\/>/g);
  const fields = [...inputs].map(([, name = '', value = '']) => [name, decode(value)]);
  return { action: decode(action), fields: Object.fromEntries(fields) };
}

function decode(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity] ?? entity);
}
