// Pages: eta templates from views/, escaped unless a template asks otherwise, which only layout and include may
// (test/http/render.test.ts holds them to it). Answers of people's pages are never cached.
import { Eta, type EtaConfig } from 'eta';
import type { Assets } from './assets.ts';
import type { Middleware } from './context.ts';
import { day, moment } from './dates.ts';

export type Render = (template: string, data: object) => string;

export interface RendererNeeds {
  viewsDir: string;
  /** Compiled templates are kept; otherwise each page is read anew. */
  production: boolean;
  assets: Pick<Assets, 'url'>;
}

/** Templates see `asset('style.css')`, `webLink(url)`, `day(date)` and `moment(date)` beside their own data. */
export function createRenderer({ viewsDir, production, assets }: RendererNeeds): Render {
  const config: Partial<EtaConfig> = {
    views: viewsDir,
    cache: production,
    autoTrim: [false, 'nl'],
    escapeFunction: escapeHtml,
    functionHeader: 'const asset = it.asset, webLink = it.webLink, day = it.day, moment = it.moment;',
  };
  const eta = new Eta(config);
  const helpers = { asset: assets.url, webLink, day, moment };
  return (template, data) => eta.render(template, withHelpers(data, helpers));
}

/** Gives `ctx.render(template, data, status)`, with `it.csrfToken` for the forms. */
export function rendering({ render }: { render: Render }): Middleware {
  return (ctx, next) => {
    ctx.render = (template, data = {}, status = 200) => {
      // A getter that spreading does not touch: only a page with a form makes the cookie.
      const page = Object.defineProperty({ ...data }, 'csrfToken', { get: () => ctx.state.csrfToken });
      ctx.body = render(template, page);
      ctx.status = status;
      ctx.type = 'text/html; charset=utf-8';
      ctx.set('Cache-Control', 'no-store');
    };
    return next();
  };
}

function withHelpers(data: object, helpers: object): object {
  return Object.defineProperties({ ...helpers }, Object.getOwnPropertyDescriptors(data));
}

/** Addresses that others registered may only be web addresses: never `javascript:` or `data:`. */
export function webLink(url: unknown): string {
  const text = String(url ?? '');
  if (/^\/(?![/\\])/.test(text)) return text;
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? text : '#';
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(value: unknown): string {
  return String(value ?? '').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
