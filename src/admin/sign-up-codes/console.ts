// /admin/security/sign-up-codes: the codes with which people sign up, a new one, and the revocation of one.
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { badRequest, type FieldFault } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { t } from '../../base/texts/text.ts';
import type { SignUpCode } from '../../people/sign-up-codes/sign-up-codes.ts';
import type { Action, Cell, ConsolePage, Mark } from '../console/blocks.ts';
import type { Frame } from '../console/frame.ts';
import { FILE_TAG } from '../console/managed-by-file.ts';
import { readTypedForm } from '../console/typed-form.ts';
import type { CreatedSignUpCode, SignUpCodeAdmin } from './actions.ts';

const HOME = '/admin/security/sign-up-codes';
const SETTINGS = '/admin/security/sign-up';
const READ = 'gatehouse.settings:read' as const;
const WRITE = 'gatehouse.settings:write-security' as const;
const DAY_CHOICES = [1, 7, 30, 90, 365];
const { defaultDays, maxUses: MAX_USES } = limits.signUpCode;

const back = { href: HOME, label: t('console.sign-up-codes.title') };
const CREATE: Action = { label: t('console.sign-up-codes.create'), icon: 'plus', href: `${HOME}/new` };
const codeForm = z.object({
  name: z.string().trim().max(100).default(''),
  max_uses: z.string().trim().max(10).default('1'),
  expires_in_days: z.enum(DAY_CHOICES.map(String)).default(String(defaultDays)),
});
type CodeForm = z.output<typeof codeForm>;

export interface SignUpCodePagesDependencies {
  frame: Frame;
  codes: SignUpCodeAdmin;
  /** Whether the settings demand a code of people who sign up. */
  areNeeded(): Promise<boolean>;
  issuer: string;
}

/** All pages below /admin/security/sign-up-codes. */
export function signUpCodeRoutes({ frame, codes, areNeeded, issuer }: SignUpCodePagesDependencies) {
  const router = new Router<State, Extras>({ prefix: HOME });
  const idOf = (ctx: Context & { params: Record<string, string> }) => ctx.params.id ?? '';

  router.get('/', ...frame.page(READ), async (ctx) => {
    const mayWrite = frame.may(ctx, WRITE);
    frame.show(ctx, listPage(await codes.list(), { mayWrite, areNeeded: await areNeeded() }));
  });

  // `/new` first: it would match `/:id`.
  router.get('/new', ...frame.page(READ, WRITE), (ctx) => frame.show(ctx, newPage(codeForm.parse({}))));
  router.post('/new', ...frame.change(READ, WRITE), async (ctx) => {
    const { given, check } = await readTypedForm(ctx, codeForm.loose());
    await frame.attempt(
      ctx,
      async () => {
        check();
        const made = await codes.create(inputOf(given), frame.actor(ctx));
        await frame.showResult(ctx, createdPage(made, issuer));
      },
      () => newPage(given),
    );
  });

  router.get('/:id/revoke', ...frame.page(READ, WRITE), async (ctx) => {
    frame.show(ctx, revocationPage(await codes.get(idOf(ctx))));
  });
  router.post('/:id/revoke', ...frame.change(READ, WRITE), async (ctx) => {
    const { name } = await codes.revoke(idOf(ctx), frame.actor(ctx));
    frame.redirect(ctx, HOME, t('console.sign-up-codes.revoke.done', { name }));
  });
  return router;
}

function inputOf({ name, max_uses, expires_in_days }: CodeForm) {
  const maxUses = /^\d+$/.test(max_uses) ? Number(max_uses) : 0;
  const fields: FieldFault[] = [];
  if (name === '') fields.push({ field: 'name', message: t('console.sign-up-codes.form.name.missing') });
  if (maxUses < 1 || maxUses > MAX_USES)
    fields.push({ field: 'max_uses', message: t('console.sign-up-codes.form.uses.wrong', { count: MAX_USES }) });
  if (fields.length > 0) throw badRequest('invalid_input', { fields });
  return { name, maxUses, days: Number(expires_in_days) };
}

function listPage(codes: readonly SignUpCode[], options: { mayWrite: boolean; areNeeded: boolean }): ConsolePage {
  const { mayWrite, areNeeded } = options;
  return {
    title: t('console.sign-up-codes.title'),
    lead: t('console.sign-up-codes.lead'),
    back: { href: SETTINGS, label: t('console.settings.tab.sign-up') },
    actions: mayWrite ? [{ ...CREATE, look: 'primary' }] : [],
    blocks: [
      ...(areNeeded ? [] : [{ kind: 'text', tone: 'notice', text: t('console.sign-up-codes.not-needed') } as const]),
      {
        kind: 'table',
        caption: t('console.sign-up-codes.title'),
        columns: [
          t('console.shared.name'),
          { label: t('console.sign-up-codes.uses'), isNumber: true },
          t('console.sign-up-codes.state'),
          t('console.sign-up-codes.expires'),
          t('console.sign-up-codes.created-at'),
          ...(mayWrite ? [t('console.sign-up-codes.action')] : []),
        ],
        rows: codes.map((code) => [...codeCells(code), ...(mayWrite ? [actionCell(code)] : [])]),
        empty: {
          icon: 'ticket',
          title: t('console.sign-up-codes.none'),
          text: t('console.sign-up-codes.none.text'),
          ...(mayWrite && { action: CREATE }),
        },
      },
    ],
  };
}

const STATES: Record<SignUpCode['state'], Mark> = {
  usable: { text: t('console.sign-up-codes.usable'), tone: 'good' },
  used: { text: t('console.sign-up-codes.used'), tone: 'plain' },
  expired: { text: t('console.sign-up-codes.expired'), tone: 'plain' },
};

function codeCells({ name, uses, maxUses, state, expiresAt, createdAt }: SignUpCode): Cell[] {
  return [
    name,
    t('console.sign-up-codes.uses-of', { uses, max: maxUses }),
    STATES[state],
    expiresAt ?? t('console.sign-up-codes.never'),
    createdAt,
  ];
}

function actionCell({ id, name, source }: SignUpCode): Cell {
  if (source === 'file') return FILE_TAG;
  return { action: { label: t('console.sign-up-codes.revoke'), of: name, href: `${HOME}/${id}/revoke` } };
}

function newPage(given: CodeForm): ConsolePage {
  return {
    title: t('console.sign-up-codes.create'),
    lead: t('console.sign-up-codes.form.lead'),
    back,
    blocks: [
      {
        kind: 'form',
        action: `${HOME}/new`,
        fields: [
          {
            name: 'name',
            label: t('console.shared.name'),
            value: given.name,
            required: true,
            isHalf: true,
            placeholder: t('console.sign-up-codes.form.name.example'),
            hint: t('console.sign-up-codes.form.name.hint'),
          },
          {
            name: 'max_uses',
            label: t('console.sign-up-codes.form.uses'),
            value: given.max_uses,
            type: 'number',
            required: true,
            isHalf: true,
            hint: t('console.sign-up-codes.form.uses.hint'),
          },
          {
            name: 'expires_in_days',
            label: t('console.sign-up-codes.form.valid-for'),
            type: 'select',
            isHalf: true,
            value: given.expires_in_days,
            options: DAY_CHOICES.map((count) => ({
              value: String(count),
              label: t('console.sign-up-codes.form.days', { count }),
            })),
          },
        ],
        button: t('console.sign-up-codes.create'),
        cancel: HOME,
      },
    ],
  };
}

function createdPage({ code, text }: CreatedSignUpCode, issuer: string): ConsolePage {
  const lead = t('console.sign-up-codes.created.copy');
  return {
    title: t('console.sign-up-codes.created'),
    back,
    blocks: [
      { kind: 'secret', label: t('console.sign-up-codes.code'), text, lead },
      {
        kind: 'facts',
        rows: [
          { label: t('console.shared.name'), value: code.name },
          { label: t('console.sign-up-codes.form.uses'), value: code.maxUses },
          { label: t('console.sign-up-codes.expires'), value: code.expiresAt ?? t('console.sign-up-codes.never') },
          {
            label: t('console.sign-up-codes.page'),
            value: { text: `${issuer}/sign-up`, copy: t('console.sign-up-codes.page.copy') },
          },
        ],
      },
      { kind: 'actions', items: [{ label: t('console.sign-up-codes.created.done'), href: HOME, look: 'primary' }] },
    ],
  };
}

/** The question before the revocation. */
function revocationPage({ id, name }: SignUpCode): ConsolePage {
  return {
    title: t('console.sign-up-codes.revoke.title', { name }),
    back,
    blocks: [
      {
        kind: 'form',
        lead: t('console.sign-up-codes.revoke.lead'),
        action: `${HOME}/${id}/revoke`,
        fields: [],
        button: t('console.sign-up-codes.revoke'),
        look: 'danger',
        cancel: HOME,
      },
    ],
  };
}
