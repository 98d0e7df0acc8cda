// Renders pages: eta templates from views/, with escaped output; only layout and include may print raw output
// (checked by test/http/pages/render.test.ts). Rendered pages are never cached.
import { Eta, type EtaConfig } from 'eta';
import type { Middleware } from '../context.ts';
import { localPath } from '../local-path.ts';
import type { Assets } from './assets.ts';
import { day, moment } from './dates.ts';
import { color, hueOf, initials } from './tokens.ts';

export type Render = (template: string, data: object) => string;

export interface RendererDependencies {
  viewsDir: string;
  /** Caches compiled templates; otherwise each page is read again. */
  production: boolean;
  assets: Pick<Assets, 'url'>;
}

/** Templates can use these helpers beside their own data: `asset('people.css')`, `webLink(url)`, `day(date)` and so on. */
export function createRenderer({ viewsDir, production, assets }: RendererDependencies): Render {
  const config: Partial<EtaConfig> = {
    views: viewsDir,
    cache: production,
    autoTrim: [false, 'nl'],
    escapeFunction: escapeHtml,
    functionHeader: 'const { asset, webLink, day, moment, color, hueOf, initials } = it;',
  };
  const eta = new Eta(config);
  const helpers = { asset: assets.url, webLink, day, moment, color, hueOf, initials };
  return (template, data) => eta.render(template, withHelpers(data, helpers));
}

/** Defines `ctx.render(template, data, status)`, with `it.csrfToken` for the forms. */
export function rendering({ render }: { render: Render }): Middleware {
  return (ctx, next) => {
    ctx.render = (template, data = {}, status = 200) => {
      // A lazy getter: only a page with a form sets the cookie.
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

/** Returns a registered URL if it is a web address or local path, else `#`: never `javascript:` or `data:`. */
export function webLink(url: unknown): string {
  const text = String(url ?? '');
  if (localPath(text) !== undefined) return text;
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? text : '#';
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escapeHtml(value: unknown): string {
  return String(value ?? '').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
