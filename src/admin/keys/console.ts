// /admin/keys: the signing keys and certificates of each use from next to retired, who verifies with them, and their rotation.
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../http/context.ts';
import { notFound } from '../../http/errors.ts';
import { parseForm, parseQuery } from '../../http/input.ts';
import type { KeyInfo } from '../../keys/keyring.ts';
import { type KeyUse, keyUses, type RotationPolicy } from '../../keys/rotation.ts';
import type { Clock } from '../../platform/clock.ts';
import { type PageText, t } from '../../texts/text.ts';
import type { Action, Block } from '../console/blocks.ts';
import type { Frame } from '../console/frame.ts';
import type { KeyAdmin } from './actions.ts';
import { LEADS, TITLES, verifierTable } from './console-parts.ts';
import { keyStages } from './console-stages.ts';
import type { KeyReadiness } from './readiness.ts';
import { ROTATIONS, type Rotation, rotationsNow } from './rotation-steps.ts';

const READ = 'gatehouse.keys:read' as const;
const WRITE = 'gatehouse.keys:write' as const;
const ROTATE = '/admin/keys/rotate';
const step = z.enum(['rotate', 'publish', 'activate', 'force']);
const rotateForm = z.object({ use: z.enum(keyUses), step });
const rotateQuery = rotateForm.partial();
const OUTCOMES: Record<string, PageText> = {
  rotated: t('console.keys.outcome.rotated'),
  published: t('console.keys.outcome.published'),
  'too-early': t('console.keys.outcome.too-early'),
  'published-already': t('console.keys.outcome.published-already'),
  'nothing-to-activate': t('console.keys.outcome.nothing-to-activate'),
};

export interface KeyPagesDependencies {
  frame: Frame;
  keys: KeyAdmin;
  readiness: KeyReadiness;
  policy(): Promise<RotationPolicy>;
  now: Clock;
}

/** All pages below /admin/keys. */
export function keyRoutes(dependencies: KeyPagesDependencies): Router<State, Extras> {
  const { frame, keys, policy, now } = dependencies;
  const router = new Router<State, Extras>({ prefix: '/admin/keys' });

  router.get('/', ...frame.page(READ), async (ctx) => {
    const all = await keys.list();
    const dates = { policy: await policy(), now: now() };
    const boxes = keyUses.map((use): Block => {
      const own = all.filter((key) => key.use === use);
      const offered = frame.may(ctx, WRITE) ? rotationsNow(use, own) : [];
      return keyStages({ title: TITLES[use], lead: LEADS[use], actions: offered.map(linkTo) }, own, dates);
    });
    const [oidc, saml, ...others] = boxes;
    frame.show(ctx, {
      title: t('console.navigation.signing-keys'),
      lead: t('console.keys.lead'),
      blocks: [oidc, saml, ...(await samlVerifiers(dependencies, ctx, all)), ...others].filter(
        (one) => one !== undefined,
      ),
    });
  });

  router.get('/rotate', ...frame.page(WRITE), async (ctx) => {
    const { use, step: wanted } = parseQuery(ctx, rotateQuery);
    if (use === undefined || wanted === undefined) return showSteps(frame, ctx);
    const rotation = ROTATIONS.find((one) => one.use === use && one.step === wanted);
    if (!rotation) throw notFound();
    const breaks = use === 'saml' && wanted === 'activate';
    frame.show(ctx, {
      title: rotation.question,
      back: { href: '/admin/keys', label: t('console.navigation.signing-keys') },
      blocks: [
        {
          kind: 'form',
          lead: rotation.lead,
          action: ROTATE,
          fields: [hidden('use', use), hidden('step', wanted)],
          button: rotation.button,
          look: 'danger',
          cancel: '/admin/keys',
        },
        ...(breaks ? await samlVerifiers(dependencies, ctx, await keys.list()) : []),
      ],
    });
  });

  router.post('/rotate', ...frame.change(WRITE), async (ctx) => {
    const { use, step: given } = await parseForm(ctx, rotateForm.loose());
    const request = { use, ...(given === 'activate' && { activate: true }), ...(given === 'force' && { force: true }) };
    const { outcome } = await keys.rotate(request, frame.actor(ctx));
    frame.redirect(ctx, '/admin/keys', OUTCOMES[outcome] ?? outcome);
  });

  return router;
}

const hidden = (name: string, value: string) => ({ name, label: '', type: 'hidden' as const, value });

function linkTo({ use, step: wanted, button, title }: Rotation): Action {
  return { label: button, of: title, href: `${ROTATE}?${new URLSearchParams({ use, step: wanted })}` };
}

/** Every step, with its consequence. */
function showSteps(frame: Frame, ctx: Context): void {
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
          action: { ...linkTo(one), look: 'danger' as const },
        })),
      },
    ],
  });
}

/** The service providers, for an administrator who may see applications. */
async function samlVerifiers(
  { frame, readiness }: KeyPagesDependencies,
  ctx: Context,
  keys: readonly KeyInfo[],
): Promise<Block[]> {
  if (!frame.may(ctx, 'gatehouse.applications:read')) return [];
  const { verifiers, isMore } = await readiness.serviceProviders(frame.actor(ctx));
  const next = keys.find(({ use, state }: { use: KeyUse; state: string }) => use === 'saml' && state === 'next');
  return [verifierTable(verifiers, isMore, next !== undefined)];
}
