// /admin/search: the results of the search as a page, and as JSON for the dialog that Ctrl K opens on every page of the console.
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { parseQuery } from '../../base/http/input.ts';
import { present } from '../../base/platform/defined.ts';
import { dotted, inLanguage, t } from '../../base/texts/text.ts';
import { searchField, tableOf } from '../console/lists.ts';
import { addPage } from '../console/pages.ts';
import type { ConsoleServices } from '../console-services.ts';
import { drawn, summaryOf } from '../suggestions/console.ts';

const HERE = '/admin/search';
/** Of each kind. */
const IN_DIALOG = 4;
const ON_PAGE = 20;
/** The last suggestion. */
function allResults(q: string) {
  const label = String(t('console.search.all', { text: q }));
  return { value: q, label, href: `${HERE}?${new URLSearchParams({ q })}`, logo: drawn({ name: label, ...ALL }) };
}
const ALL = { icon: 'search' };

const query = z.object({ q: z.string().trim().max(200).default('') });

export function searchRoutes({ frame, search }: ConsoleServices) {
  const router = new Router<State, Extras>({ prefix: HERE });

  addPage(router, frame, '/', {
    needs: [],
    async page({ ctx, ...searcher }) {
      const { q } = parseQuery(ctx, query);
      const found = await search(q, searcher, ON_PAGE);
      return {
        title: t('console.search.title'),
        lead: t('console.search.lead'),
        blocks: present([
          {
            kind: 'search',
            action: HERE,
            fields: [searchField(q, t('console.search.placeholder'), t('console.search.title'))],
            isPrimary: true,
          },
          q !== '' && {
            kind: 'table',
            caption: t('console.search.results'),
            ...tableOf(found, [
              [
                t('console.search.result'),
                ({ text, small, href, logo }) => ({
                  text,
                  href,
                  small: small || undefined,
                  logo,
                }),
              ],
              [{ label: t('console.search.kind'), isShort: true }, ({ kindName }) => kindName],
            ]),
            empty: t('console.search.none', { text: q }),
          },
        ]),
      };
    },
  });

  router.get('/suggest', ...frame.page(), async (ctx: Context) => {
    const { q } = parseQuery(ctx, query);
    const language = frame.language(ctx);
    const searcher = {
      by: frame.actor(ctx),
      meets: (need: Parameters<typeof frame.meets>[1]) => frame.meets(ctx, need),
    };
    const found = await search(q, { ...searcher, language }, IN_DIALOG);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = inLanguage(language, () => ({
      suggestions: present([
        ...found.map(({ kindName, text, small, href, logo }) => {
          const label = String(text);
          const second = String(dotted([kindName, small]));
          return { value: label, label, small: second, href, logo: drawn(logo) };
        }),
        found.length > 0 && allResults(q),
      ]),
      summary: String(found.length === 0 ? t('console.search.none', { text: q }) : summaryOf(found.length)),
    }));
  });

  return router;
}
