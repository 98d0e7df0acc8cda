// The pages of a noun in the console, made from its description (resource.ts), which the API has too.
import Router from '@koa/router';
import type { Extras, State } from '../base/http/context.ts';
import { present } from '../base/platform/defined.ts';
import type { PageText } from '../base/texts/text.ts';
import type { Actor } from '../core/audit/audit.ts';
import { oneOf, permissionsOf, RELEASE } from '../people/rbac/rights.ts';
import { byId } from './api/parts.ts';
import type { ConsolePage } from './console/blocks.ts';
import { FILE_TAG, fileNotice, releaseQuestion } from './console/managed-by-file.ts';
import {
  addForm,
  addPage,
  addQuestion,
  type FormPage,
  type Page,
  type PageNeeds,
  type Params,
  type Visit,
} from './console/pages.ts';
import type { Sent } from './console/row-buttons.ts';
import type { ConsoleServices } from './console-services.ts';
import type { Resource } from './resource.ts';

/** The fields of a form, with what follows from its noun. */
type NounForm<Subject, Given> = FormPage<Subject, Given> & Partial<PageNeeds>;

/**
 * The pages of a noun: a router, and what adds to it. A fixed path comes before those of one, which would match it. A form leads back to
 * the page of what it is about, and the page that takes it out of the configuration file is there.
 */
export function pagesOf<Item>(services: ConsoleServices, noun: Resource<Item>) {
  const { frame } = services;
  const { home, title, nameOf, declared, params = byId, read, write, get, getForChange = get } = noun;
  const router = new Router<State, Extras>({ prefix: home });
  const [parameter = 'id'] = Object.keys(params.shape);
  const keyOf = (ctx: Params) => ctx.params[parameter] ?? '';
  const loadForChange = (ctx: Params, by: Actor) => getForChange(keyOf(ctx), by);
  const load = (ctx: Params, by: Actor) => (ctx.method === 'POST' ? getForChange : get)(keyOf(ctx), by);
  const toList = { href: home, label: title };
  const pathOf = (item: Item) => `${home}/${encodeURIComponent(noun.keyOf(item))}`;
  const toOne = (item: Item) => ({ href: pathOf(item), label: nameOf(item) });
  const ofOne = { needs: write, load: loadForChange, back: toOne };

  // The file is that of the whole server: a right that is limited to some users or applications is not enough.
  const writeAll = write.map((need) => oneOf(...permissionsOf(need)));
  if (declared)
    addQuestion(router, frame, `/:${parameter}/release`, {
      ...releaseQuestion<Item>(services, writeAll, { entriesOf: (item) => [declared.entryOf(item)], home: toOne }),
      load: (ctx, by) => get(keyOf(ctx), by),
    });

  return {
    router,
    pathOf,
    toOne,
    list: (page: (visit: Visit<undefined>) => Promise<ConsolePage>) =>
      addPage(router, frame, '/', { needs: read, page }),
    create: <Given>(page: Page<undefined, Given> & Partial<PageNeeds>) =>
      addPage(router, frame, '/new', { needs: write, ...page }),
    /** The same with few fields. */
    createForm: <Given = Sent>(form: NounForm<undefined, Given>) =>
      addForm(router, frame, '/new', { needs: write, back: () => toList, ...form }),
    /** `path`: below the path of one, empty for its own page. Read or changed as the noun is, unless it says otherwise. */
    one: <Given = undefined>(path: string, page: Page<Item, Given> & Partial<PageNeeds>) =>
      addPage(router, frame, `/:${parameter}${path}`, { needs: read, submitNeeds: write, load, ...page }),
    /** A form that is of use only to who may change the noun, or a button on another page. */
    change: <Given = undefined>(path: string, page: Page<Item, Given> & Partial<PageNeeds>) =>
      addPage(router, frame, `/:${parameter}${path}`, { needs: write, load: loadForChange, ...page }),
    form: <Given = Sent>(path: string, form: NounForm<Item, Given>) =>
      addForm(router, frame, `/:${parameter}${path}`, { ...ofOne, ...form }),
    question: <Given = Sent>(path: string, question: NounForm<Item, Given>) =>
      addQuestion(router, frame, `/:${parameter}${path}`, { ...ofOne, ...question }),
    /** The question before one is deleted, whose name is typed. `done` is said on the list. */
    deletion: ({ run, done, ...question }: Deletion<Item>) =>
      addQuestion(router, frame, `/:${parameter}/delete`, {
        ...ofOne,
        typedName: nameOf,
        ...question,
        async submit({ by, subject }) {
          await run(noun.keyOf(subject), by);
          return { to: home, notice: done };
        },
      }),
    /** A page of one: its name, the way to the list, and that the file declares it. @param mayRelease whether the administrator may take it out of the file */
    pageOf(
      { subject, meets }: Visit<Item>,
      { tags = [], blocks, ...page }: PageOfOne,
      mayRelease = [RELEASE, ...writeAll].every(meets),
    ): ConsolePage {
      const what = declared?.entryOf(subject).source === 'file' && declared.what;
      return {
        ...page,
        title: nameOf(subject),
        back: toList,
        tags: present([...tags, what && FILE_TAG]),
        blocks: present([
          what && fileNotice(services.config.configFile, what, mayRelease && pathOf(subject)),
          ...blocks,
        ]),
      };
    },
  };
}

/** What is its own on a page of one. */
export type PageOfOne = Omit<ConsolePage, 'title' | 'back'>;

/** What is said before one is deleted, and after. */
interface Deletion<Item> extends Omit<FormPage<Item>, 'back' | 'typedName' | 'submit'> {
  run(key: string, by: Actor): Promise<unknown>;
  done: PageText;
}

export type Pages<Item> = ReturnType<typeof pagesOf<Item>>;
