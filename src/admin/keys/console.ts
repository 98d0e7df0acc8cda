// /admin/keys: the signing keys and certificates of each use from next to retired, who verifies with them, and their rotation.

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { notFound } from '../../base/http/errors.ts';
import { parseForm, parseQuery } from '../../base/http/input.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { KeyInfo, RotationOutcome } from '../../core/keys/keyring.ts';
import { type KeyState, type KeyUse, keyUses, type RotationPolicy, rotationPolicy } from '../../core/keys/rotation.ts';
import type { Action, Block, Cell, Stage } from '../console/blocks.ts';
import { expiryCell } from '../console/expiry.ts';
import type { Frame } from '../console/frame.ts';
import type { ConsoleServices } from '../console-services.ts';
import { LEADS, TITLES, verifierTable } from './console-parts.ts';
import { serviceProviders } from './readiness.ts';
import { obstacleOf, ROTATIONS, type Rotation, rotationsNow } from './rotation-steps.ts';

const READ = 'gatehouse.keys:read' as const;
const WRITE = 'gatehouse.keys:write' as const;
const ROTATE = '/admin/keys/rotate';
const step = z.enum(['rotate', 'publish', 'activate', 'force']);
const rotateForm = z.object({ use: z.enum(keyUses), step });
const rotateQuery = rotateForm.partial();

/** All pages below /admin/keys. */
export function keyRoutes(services: ConsoleServices): Router<State, Extras> {
  const { frame, now, settingOf } = services;
  const { keys } = services.admin;
  const policy = async () => rotationPolicy(Number(await settingOf('session_hours')) * 3600);
  const router = new Router<State, Extras>({ prefix: '/admin/keys' });

  router.get('/', ...frame.page(READ), async (ctx) => {
    const all = await keys.list();
    const dates = { policy: await policy(), now: now() };
    const boxes = keyUses.map((use): Block => {
      const own = all.filter((key) => key.use === use);
      const offered = frame.may(ctx, WRITE) ? rotationsNow(use, own) : [];
      const actions = offered.map((one) => linkTo(one, obstacleOf(one, own, dates)));
      return keyStages({ title: TITLES[use], lead: LEADS[use], actions }, own, dates);
    });
    const [oidc, saml, ...others] = boxes;
    frame.show(ctx, {
      title: t('console.navigation.signing-keys'),
      lead: t('console.keys.lead'),
      blocks: [oidc, saml, ...(await samlVerifiers(services, ctx, all)), ...others].filter((one) => one !== undefined),
    });
  });

  router.get('/rotate', ...frame.page(WRITE), async (ctx) => {
    const { use, step: wanted } = parseQuery(ctx, rotateQuery);
    const all = await keys.list();
    const dates = { policy: await policy(), now: now() };
    if (use === undefined || wanted === undefined) return showSteps(frame, ctx, (one) => obstacleOf(one, all, dates));
    const rotation = ROTATIONS.find((one) => one.use === use && one.step === wanted);
    if (!rotation) throw notFound();
    const breaks = use === 'saml' && wanted === 'activate';
    const obstacle = obstacleOf(rotation, all, dates);
    frame.show(ctx, {
      title: rotation.question,
      back: { href: '/admin/keys', label: t('console.navigation.signing-keys') },
      blocks: [
        obstacle
          ? { kind: 'text', tone: 'warning', text: obstacle }
          : {
              kind: 'form',
              lead: rotation.lead,
              action: ROTATE,
              fields: [hidden('use', use), hidden('step', wanted)],
              button: rotation.button,
              look: 'danger',
              cancel: '/admin/keys',
            },
        ...(breaks ? await samlVerifiers(services, ctx, all) : []),
      ],
    });
  });

  router.post('/rotate', ...frame.change(WRITE), async (ctx) => {
    const { use, step: given } = await parseForm(ctx, rotateForm.loose());
    const request = { use, ...(given === 'activate' && { activate: true }), ...(given === 'force' && { force: true }) };
    const result = await keys.rotate(request, frame.actor(ctx));
    const isDone = result.outcome === 'rotated' || result.outcome === 'published';
    frame.redirect(ctx, '/admin/keys', outcomeText(result), isDone ? 'good' : 'warn');
  });

  return router;
}

const hidden = (name: string, value: string) => ({ name, label: '', type: 'hidden' as const, value });

function outcomeText(result: RotationOutcome): PageText {
  if (result.outcome === 'too-early') return t('console.keys.outcome.too-early', { at: result.readyAt });
  return t(`console.keys.outcome.${result.outcome}`);
}

function linkTo({ use, step: wanted, button, title }: Rotation, obstacle: PageText | undefined): Action {
  const href = `${ROTATE}?${new URLSearchParams({ use, step: wanted })}`;
  return { label: button, of: title, href, obstacle };
}

/** Every step, with its consequence. */
function showSteps(frame: Frame, ctx: Context, obstacle: (one: Rotation) => PageText | undefined): void {
  frame.show(ctx, {
    title: t('console.keys.rotate-title'),
    back: { href: '/admin/keys', label: t('console.navigation.signing-keys') },
    blocks: [
      {
        kind: 'tasks',
        title: t('console.keys.steps'),
        isDanger: true,
        rows: ROTATIONS.map((one) => ({
          title: one.title,
          text: one.lead,
          action: { ...linkTo(one, obstacle(one)), look: 'danger' as const },
        })),
      },
    ],
  });
}

/** The service providers, for an administrator who may see applications. */
async function samlVerifiers(services: ConsoleServices, ctx: Context, keys: readonly KeyInfo[]): Promise<Block[]> {
  const { frame } = services;
  if (!frame.may(ctx, 'gatehouse.applications:read')) return [];
  const { verifiers, isMore } = await serviceProviders(services, frame.actor(ctx));
  const next = keys.find(({ use, state }: { use: KeyUse; state: string }) => use === 'saml' && state === 'next');
  return [verifierTable(verifiers, isMore, next !== undefined)];
}

const NAMES: Record<KeyState, Pick<Stage, 'title' | 'empty' | 'tone'>> = {
  next: { title: t('console.keys.stage.next'), empty: t('console.keys.none-published'), tone: 'warn' },
  active: { title: t('console.keys.stage.active'), empty: t('console.keys.none'), tone: 'good' },
  retired: { title: t('console.keys.stage.retired'), empty: t('console.keys.none'), tone: 'plain' },
};
const ORDER: readonly KeyState[] = ['next', 'active', 'retired'];

interface Dates {
  policy: RotationPolicy;
  now: Date;
}

/** The keys of one use as stages. */
function keyStages(
  head: Pick<Extract<Block, { kind: 'stages' }>, 'title' | 'lead' | 'actions'>,
  keys: readonly KeyInfo[],
  dates: Dates,
): Block {
  const stages = ORDER.map((state) => ({
    ...NAMES[state],
    items: keys.filter((key) => key.state === state).map((key) => itemOf(key, dates)),
  }));
  return { kind: 'stages', ...head, stages };
}

const plus = (from: Date | null, seconds: number) => from && new Date(from.getTime() + seconds * 1000);

function itemOf(key: KeyInfo, { policy, now }: Dates): Stage['items'][number] {
  const { kid, alg, use, state, createdAt, activatedAt, retiredAt, certificate, canSignFrom } = key;
  const rows: Record<KeyState, { label: PageText; value: Cell }[]> = {
    next: [
      { label: t('console.keys.published'), value: createdAt },
      { label: t('console.keys.can-sign-from'), value: canSignFrom },
    ],
    active: [
      { label: t('console.keys.signs-since'), value: activatedAt ?? createdAt },
      ...(use === 'oidc'
        ? [{ label: t('console.keys.rotates'), value: plus(activatedAt ?? createdAt, policy.rotateAfterSeconds) }]
        : []),
    ],
    retired: [
      { label: t('console.keys.stage.retired'), value: retiredAt },
      { label: t('console.keys.removed'), value: plus(retiredAt ?? createdAt, policy.retireAfterSeconds) },
    ],
  };
  const expires = certificate
    ? [{ label: t('console.keys.certificate-expires'), value: expiryCell(certificate.until, now) }]
    : [];
  return { name: { text: alg, small: kid }, rows: [...rows[state], ...expires] };
}
