// The routes of a page: GET shows it; POST carries out its form, and shows it again with what was sent after a fault that the
// administrator can fix. A page says what it needs, what it is about and what it shows; this file alone reads, checks and answers.
import type Router from '@koa/router';
import { type ZodType, z } from 'zod';
import type { Notice } from '../../account/account-page-helpers.ts';
import type { Context, Extras, Middleware, State } from '../../base/http/context.ts';
import { AppError } from '../../base/http/errors.ts';
import { type Fields, parse, parseForm, readForm } from '../../base/http/input.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';
import type { Need, Target } from '../../people/rbac/rights.ts';
import { type Block, type ConsolePage, type Field, type FormBlock, formsOf, hiddenField, withForms } from './blocks.ts';
import { assertTypedName, TYPED_NAME, typedNameField } from './danger-zone.ts';
import { bodyOf, type FormKey, fieldKey, type Values } from './form-fields.ts';
import { consolePageBefore, type Frame, isConsolePath } from './frame.ts';
import { entryOf } from './navigation.ts';
import { asTyped, isRowButton, type Sent, sentValue, toSent } from './row-buttons.ts';
import { readLongForm, readTypedForm } from './typed-form.ts';

/** The context of a route with parameters. */
export type Params = Context & { params: Record<string, string> };

/** One request of an administrator for a page about `subject`. */
export interface Visit<Subject> {
  ctx: Params;
  subject: Subject;
  by: Actor;
  /** Of the page. */
  language: string;
  may(permission: OwnPermission, target?: Target): boolean;
  meets(need: Need): boolean;
}

/** Another page, which says once what was done. */
export interface Redirection {
  to: string;
  notice?: PageText | Notice | undefined;
  /** Of a notice that is a text; `good` unless nothing, or not everything, was done. */
  tone?: Notice['tone'];
}

/** What follows a form: another page, a page with a new secret, or one that no reload displays again. */
export type Next = Redirection | { result: ConsolePage } | { page: ConsolePage; status?: number };

/** Reads the form of a page. `check` throws invalid_input; a row button sends a form that is displayed again and not carried out. */
export type FormReader<Given> = (ctx: Context) => Promise<{ given: Given; check?(): void; isRowButton?: boolean }>;

/** Every field as it was sent: of a form with lists. @param read what reads it, with its longest values */
const sentForm =
  (read: (ctx: Context) => Promise<Sent>): FormReader<Sent> =>
  async (ctx) => {
    const given = await read(ctx);
    return { given, isRowButton: isRowButton(given) };
  };

/** A form with few fields. */
const shortForm = sentForm(async (ctx) => toSent(await readForm(ctx, { lists: 'every field' })));
/** A form with documents. */
export const longForm = sentForm(readLongForm);
/** A form with lists. */
export const listForm = sentForm(async (ctx) =>
  toSent(await parseForm(ctx, z.record(z.string(), z.array(z.string().max(20_000))), { lists: 'every field' })),
);

export interface PageNeeds {
  /** What the administrator must have to see the page. */
  needs: readonly Need[];
  /** To send its form; `needs` by default. */
  submitNeeds?: readonly Need[];
}

export interface Page<Subject, Given> {
  /** Reads what the page is about, once for each request. */
  load?(ctx: Params, by: Actor): Promise<Subject>;
  /** Cancel and what follows the form lead back to the page of the console that it was opened from, where that is known. */
  isReturning?: true;
  /** Where the page leads that this one does not have. */
  elsewhere?(visit: Visit<Subject>): Redirection | undefined;
  /**
   * Throws what the change would throw, so that nobody fills in a form for nothing, and faults of the values are only for an
   * administrator who may make the change. The change itself checks again.
   */
  assertOpen?(visit: Visit<Subject>): Promise<void> | void;
  /** Absent: a button on another page sends the form, and a fault is displayed on an error page. */
  page?(visit: Visit<Subject>, given?: Given): ConsolePage | Promise<ConsolePage>;
  /** Before the form is read: its size, files. */
  accepts?: Middleware | readonly Middleware[];
  /** A schema, whose faults are displayed in the form, or what reads it otherwise. */
  form?: ZodType<Given> | FormReader<Given>;
  /** Fields of a form with a schema that may be repeated. */
  lists?: readonly string[];
  /** What is asked before this form is carried out, over the page; undefined: nothing. Throws what the change would throw. */
  asks?(visit: Visit<Subject>, given: Given): Promise<Question | undefined>;
  /** Absent: the page only displays. Undefined: it answered itself. */
  submit?(visit: Visit<Subject>, given: Given): Promise<Next | undefined>;
}

/**
 * Adds the routes of a page. One with a fixed path comes before one with a parameter, which it would match.
 * @param path below the prefix of the router
 */
export function addPage<Subject = undefined, Given = undefined>(
  router: Router<State, Extras>,
  frame: Frame,
  path: string,
  description: Page<Subject, Given> & PageNeeds,
): void {
  const {
    needs,
    submitNeeds = needs,
    isReturning,
    accepts = [],
    lists = [],
    submit,
    asks,
    assertOpen,
    elsewhere,
  } = description;
  const { form = async () => ({ given: undefined as Given }) } = description;
  const page =
    description.page &&
    (async (visited: Visit<Subject>, given?: Given): Promise<ConsolePage> => {
      const plain = (await description.page?.(visited, given)) as ConsolePage;
      const opened = isReturning && (await openedFrom(visited.ctx));
      return opened ? returning(plain, opened) : plain;
    });
  const read: FormReader<Given> =
    typeof form === 'function' ? form : (ctx) => readTypedForm(ctx, form as ZodType<Given & object>, { lists });
  const visit = async (ctx: Params): Promise<Visit<Subject>> => {
    const by = frame.actor(ctx);
    return {
      ctx,
      by,
      subject: (await description.load?.(ctx, by)) as Subject,
      language: frame.language(ctx),
      may: (permission, target) => frame.may(ctx, permission, target),
      meets: (need) => frame.meets(ctx, need),
    };
  };
  const redirect = (ctx: Context, { to, notice, tone }: Redirection) => {
    const isWhole = typeof notice === 'object' && 'tone' in notice;
    if (isWhole) frame.redirect(ctx, to, notice.text, notice.tone, notice.link);
    else frame.redirect(ctx, to, notice, tone);
  };

  if (page)
    router.get(path, ...frame.page(...needs), async (ctx: Params) => {
      const visited = await visit(ctx);
      const other = elsewhere?.(visited);
      if (other) return redirect(ctx, other);
      await assertOpen?.(visited);
      frame.show(ctx, await page(visited));
    });

  if (!submit) return;
  /** The page with the question that comes before the form is carried out. Undefined: there is none, or it was answered. */
  const askedFirst = async (visited: Visit<Subject>, given: Given): Promise<ConsolePage | undefined> => {
    if (!asks || !page) return undefined;
    const { _csrf, ...fields } = await readForm(visited.ctx, { lists: 'every field' });
    const question = fields[ASKED] === undefined && (await asks(visited, given));
    if (!question) return undefined;
    const { path: action } = visited.ctx;
    const behind = await page(visited, given);
    const cancel = formsOf(behind).find((one) => one.action === action)?.cancel ?? action;
    return askedPage(behind, question, { action, fields, cancel });
  };
  const answer = async (ctx: Context, next: Next | undefined) => {
    if (next === undefined) return;
    if ('page' in next) return frame.show(ctx, next.page, next.status, next.page.back?.href ?? ctx.path);
    const opened = isReturning && (await openedFrom(ctx));
    if ('result' in next) return frame.showResult(ctx, opened ? leadingBack(next.result, opened) : next.result);
    redirect(ctx, opened ? { ...next, to: opened } : next);
  };
  router.post(path, ...[accepts].flat(), ...frame.change(...submitNeeds), async (ctx: Params) => {
    const visited = await visit(ctx);
    const { given, check, isRowButton: isUnfinished } = await read(ctx);
    if (isUnfinished && page) return frame.show(ctx, await page(visited, given));
    const carryOut = async () => {
      try {
        check?.();
        const asked = await askedFirst(visited, given);
        await answer(ctx, asked ? { page: asked } : await submit(visited, given));
      } catch (error) {
        if (error instanceof AppError && error.code === 'invalid_input') await assertOpen?.(visited);
        throw error;
      }
    };
    if (!page) return carryOut();
    await frame.attempt(ctx, carryOut, () => page(visited, given));
  });
}

/** The field with the page that the form was opened from. */
const OPENED = 'opened';

/** The page that a form was opened from: the one before, which the form then names itself. */
async function openedFrom(ctx: Context): Promise<string | undefined> {
  if (ctx.method === 'GET') return consolePageBefore(ctx);
  const { [OPENED]: sent } = await readForm(ctx, { lists: 'every field' });
  const opened = [sent].flat().at(-1);
  return isConsolePath(opened) ? opened : undefined;
}

/** The page with that one above it. It is called what it was, unless it is about something else. */
function leadingBack(page: ConsolePage, href: string): ConsolePage {
  const label = isNear(page, href) ? page.back?.label : entryAt(href)?.label;
  return { ...page, back: { href, label: label ?? t('console.page.back') } };
}

/** The same with its form, which names that page. One of several tabs keeps its back link, and stays within its section. */
function returning(page: ConsolePage, opened: string): ConsolePage {
  if (page.tabs && isNear(page, opened)) return page;
  const blocks = withForms(page.blocks, (form) => ({
    ...form,
    fields: [...form.fields, hiddenField(OPENED, opened)],
    cancel: opened,
  }));
  return { ...(page.tabs ? page : leadingBack(page, opened)), blocks };
}

const entryAt = (href: string) => entryOf(href.replace(/\?.*/, ''));
const isNear = ({ back }: ConsolePage, href: string) => back && entryAt(back.href)?.href === entryAt(href)?.href;

/** A question that the form of a page leads to; the verb again on its button. */
export interface Question {
  title: PageText;
  /** The consequence. */
  lead: PageText;
  button: PageText;
}

/** The field that says that the question was answered. */
export const ASKED = 'asked';

/** The page with the question over it, which sends these fields again. */
export function askedPage(
  page: ConsolePage,
  { title, ...question }: Question,
  { action, fields, cancel }: { action: string; fields: Fields; cancel: string },
): ConsolePage {
  const sent = [...Object.entries(fields), [ASKED, 'yes'] as const];
  const hidden = sent.flatMap(([name, values]) => [values].flat().map((value) => hiddenField(name, value)));
  return {
    ...page,
    asks: { title, form: { kind: 'form', ...question, action, fields: hidden, look: 'danger', cancel } },
  };
}

/** A page with one form whose fields are listed. */
export interface FormPage<Subject, Given = Sent>
  extends Omit<Page<Subject, Sent>, 'page' | 'form' | 'lists' | 'asks' | 'submit'> {
  /** What reads the form, unless it has few fields. */
  form?: FormReader<Sent>;
  title(subject: Subject): PageText;
  /** What the page is for. */
  purpose?: PageText;
  /** Where the form was opened, and Cancel leads back to. Absent in a form of a noun: its page, or the list for a new one. */
  back?(subject: Subject): { href: string; label: PageText };
  /** Cancel leads elsewhere. */
  cancel?: string;
  /** Blocks above the form. */
  above?(visit: Visit<Subject>): readonly Block[] | Promise<readonly Block[]>;
  /** Of a question: the consequence. */
  lead?(visit: Visit<Subject>): PageText | Promise<PageText>;
  /** The verb. Of a deletion it is `Delete` with the name. */
  button?: PageText | ((subject: Subject) => PageText);
  /** What is deleted permanently: the administrator types its name first. */
  typedName?(subject: Subject): string;
  look?: FormBlock['look'];
  /** Each is written out with its value, or displays one of `values`. */
  fields?(visit: Visit<Subject>): readonly (Field | FormKey)[] | Promise<readonly (Field | FormKey)[]>;
  values?: Values;
  /** What checks the fields: the body of the endpoint that does the same. Absent: they are given as they were sent. */
  body?: ZodType<Given>;
  asks?(visit: Visit<Subject>, given: Given): Promise<Question | undefined>;
  submit(visit: Visit<Subject>, given: Given): Promise<Next | undefined>;
}

/** What the routes of a form take. */
export interface FormRoute<Subject, Given = Sent> extends FormPage<Subject, Given>, PageNeeds {
  back(subject: Subject): { href: string; label: PageText };
}

/** Adds the routes of a page with one form. */
export function addForm<Subject = undefined, Given = Sent>(
  router: Router<State, Extras>,
  frame: Frame,
  path: string,
  form: FormRoute<Subject, Given>,
): void {
  const {
    title,
    purpose,
    back,
    cancel,
    lead,
    button,
    typedName,
    look,
    fields,
    values = {},
    above,
    body,
    asks,
    submit,
    ...page
  } = form;
  const read = async (visit: Visit<Subject>, sent: Sent): Promise<Given> => {
    if (!body) return sent as Given;
    const keys = ((await fields?.(visit)) ?? []).map((one) => ('key' in one ? one : fieldKey(one)));
    return parse(body, bodyOf(keys, sent));
  };
  addPage<Subject, Sent>(router, frame, path, {
    ...page,
    form: page.form ?? shortForm,
    async page(visit, sent) {
      const { ctx, subject } = visit;
      const name = typedName?.(subject);
      const listed = (await fields?.(visit)) ?? [];
      const own = listed.flatMap((one) => ('key' in one ? one.fields(values) : [one]));
      const named = name === undefined ? [] : [typedNameField(name, sent && sentValue(sent, TYPED_NAME))];
      const verb = typeof button === 'function' ? button(subject) : button;
      return {
        title: title(subject),
        ...(purpose && { lead: purpose }),
        back: back(subject),
        blocks: [
          ...((await above?.(visit)) ?? []),
          {
            kind: 'form',
            ...(lead && { lead: await lead(visit) }),
            action: ctx.path,
            fields: [...(sent ? asTyped(own, sent) : own), ...named],
            button: verb ?? t('console.shared.delete-name', { name: name ?? '' }),
            ...(look && { look }),
            cancel: cancel ?? back(subject).href,
          },
        ],
      };
    },
    ...(asks && { asks: async (visit, sent) => asks(visit, await read(visit, sent)) }),
    async submit(visit, sent) {
      const name = typedName?.(visit.subject);
      if (name !== undefined) assertTypedName(sentValue(sent, TYPED_NAME) ?? '', name);
      return submit(visit, await read(visit, sent));
    },
  });
}

/** Adds the routes of a page that asks. */
export function addQuestion<Subject = undefined, Given = Sent>(
  router: Router<State, Extras>,
  frame: Frame,
  path: string,
  question: FormRoute<Subject, Given>,
): void {
  addForm(router, frame, path, { look: 'danger', ...question });
}
