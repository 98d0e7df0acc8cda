// /docs: the documentation of this version, in the frame of the console, for everybody who may open the console.
import Router from '@koa/router';
import { z } from 'zod';
import type { Extras, State } from '../../base/http/context.ts';
import { notFound } from '../../base/http/errors.ts';
import { parseQuery } from '../../base/http/input.ts';
import { t } from '../../base/texts/text.ts';
import type { Block } from '../console/blocks.ts';
import { searchField, tableOf } from '../console/lists.ts';
import { addPage, type Params } from '../console/pages.ts';
import type { ConsoleServices } from '../console-services.ts';
import { type Chapter, documentPath } from './documents.ts';

const HERE = '/docs';
const RESULTS = 50;
const query = z.object({ q: z.string().trim().max(200).default('') });

export function documentRoutes({ frame, documents }: ConsoleServices) {
  const router = new Router<State, Extras>({ prefix: HERE });
  const needs = [] as const;
  const nameIn = (ctx: Params) => (ctx.path.startsWith(`${HERE}/decisions/`) ? 'decisions/' : '') + ctx.params.chapter;
  const searchFor = (q = ''): Block => ({
    kind: 'search',
    action: HERE,
    fields: [searchField(q, t('console.docs.search'), t('console.docs.search'))],
  });

  addPage(router, frame, '/', {
    needs,
    page({ ctx }) {
      const { q } = parseQuery(ctx, query);
      return q === '' ? chapterPage('README') : resultsPage(q);
    },
  });
  for (const path of ['/:chapter', '/decisions/:chapter'])
    addPage(router, frame, path, { needs, page: ({ ctx }) => chapterPage(nameIn(ctx)) });

  function chapterPage(name: string) {
    const chapter = documents.find(name);
    if (!chapter) throw notFound({ next: { href: HERE, label: t('console.docs.title') } });
    const isHome = name === 'README';
    return {
      title: isHome ? t('console.docs.title') : chapter.title,
      ...(!isHome && { back: { href: HERE, label: t('console.docs.title') } }),
      blocks: [searchFor(), documentBlock(chapter)],
      ...(!isHome && { aside: [chapterLinks(name)] }),
    };
  }

  const chapterLinks = (name: string): Block => ({
    kind: 'links',
    title: t('console.docs.chapters'),
    items: documents
      .list()
      .filter((one) => one.name !== 'README' && !one.name.includes('/'))
      .map((one) => ({ href: documentPath(one.name), label: one.title, isCurrent: one.name === name })),
  });

  function resultsPage(q: string) {
    const found = documents.search(q, RESULTS);
    const table = tableOf(found, [
      [t('console.docs.section'), ({ title, href, excerpt }) => ({ text: title, href, small: excerpt })],
      [t('console.docs.chapter'), ({ chapter }) => chapter],
    ]);
    return {
      title: t('console.docs.title'),
      back: { href: HERE, label: t('console.docs.chapters') },
      blocks: [
        searchFor(q),
        { kind: 'table', caption: t('console.search.results'), ...table, empty: t('console.search.none', { text: q }) },
      ] satisfies Block[],
    };
  }

  return router;
}

function documentBlock({ sections }: Chapter): Block {
  const contents = sections.flatMap(({ id, title, level }) => (level === 2 ? [{ href: `#${id}`, label: title }] : []));
  return { kind: 'document', parts: sections.flatMap(({ parts }) => parts), contents };
}
