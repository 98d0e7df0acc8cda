// /admin/keys: the signing keys and certificates of each use from next to retired, who verifies with them, and their rotation.

import Router from '@koa/router';
import { z } from 'zod';
import type { Application } from '../../applications/application.ts';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { notFound } from '../../base/http/errors.ts';
import { parseForm, parseQuery } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { type PageText, sentences, type Text, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { KeyInfo, RotationOutcome } from '../../core/keys/keyring.ts';
import {
  type KeyState,
  type KeyUse,
  keyUses,
  planRotation,
  type RotationPolicy,
  rotationPolicy,
} from '../../core/keys/rotation.ts';
import { type Action, type Block, type Cell, hiddenField, type Stage } from '../console/blocks.ts';
import { expiryCell } from '../console/expiry.ts';
import type { Frame } from '../console/frame.ts';
import type { ConsoleServices } from '../console-services.ts';

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
              fields: [hiddenField('use', use), hiddenField('step', wanted)],
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

// The parties that verify the SAML signatures of this server, and the state of each: a rotation breaks those without the next certificate.

export interface Verifier {
  application: Application;
  /** Its last sign-in of the last 30 days; undefined: none, or not counted yet. */
  lastSignIn: Date | undefined;
  /** When its own metadata is read again; undefined: it is not read from a URL, or was not read yet. */
  nextReadAt: Date | undefined;
  /** A change of its own metadata waits for an administrator. */
  isWaiting: boolean;
}

/** The enabled service providers, by name; `isMore`: the list was cut. */
async function serviceProviders(
  { admin, db, signIns }: ConsoleServices,
  by: Actor,
): Promise<{ verifiers: Verifier[]; isMore: boolean }> {
  const filter = { protocol: 'saml', enabled: true, limit: limits.api.pageSize } as const;
  const [{ applications: found, next }, counts] = await Promise.all([
    admin.applications.list(filter, by),
    signIns.lastDays(),
  ]);
  const ids = found.map(({ id }) => id);
  const rows = await db.asStored.samlMetadata.findMany({ where: { applicationId: { in: ids } } });
  const verifiers = found.map((application) => {
    const state = rows.find(({ applicationId }) => applicationId === application.id);
    return {
      application,
      lastSignIn: counts?.get(application.clientId)?.last,
      nextReadAt: state?.nextReadAt,
      isWaiting: Boolean(state?.pendingXml),
    };
  });
  return { verifiers, isMore: next !== undefined };
}

const TITLES: Record<KeyUse, PageText> = {
  oidc: 'OpenID Connect',
  saml: 'SAML',
  'saml-sp': t('console.keys.title.saml-sp'),
  'saml-sp-encryption': t('console.keys.title.saml-sp-encryption'),
};

const LEADS: Record<KeyUse, PageText> = {
  oidc: t('console.keys.lead.oidc'),
  saml: t('console.keys.lead.saml'),
  'saml-sp': t('console.keys.lead.saml-sp'),
  'saml-sp-encryption': t('console.keys.lead.saml-sp-encryption'),
};

// The steps of a rotation, with their consequences: OpenID Connect takes one, SAML two, because the other side has to read the metadata again.

interface Rotation {
  use: KeyUse;
  step: 'rotate' | 'publish' | 'activate';
  title: PageText;
  /** The title of the page that asks. */
  question: PageText;
  /** The consequence. */
  lead: PageText;
  button: PageText;
}

const upstream = (use: 'saml-sp' | 'saml-sp-encryption'): Rotation[] => [
  {
    use,
    step: 'publish',
    title: t('console.keys.first-step', { use: TITLES[use] }),
    question: t('console.keys.upstream.publish-question'),
    button: t('console.keys.publish'),
    lead: t('console.keys.upstream.publish-lead'),
  },
  {
    use,
    step: 'activate',
    title: t('console.keys.second-step', { use: TITLES[use] }),
    question: t('console.keys.upstream.activate-question'),
    button: t('console.keys.activate-key'),
    lead: t('console.keys.upstream.activate-lead'),
  },
];

const ROTATIONS: readonly Rotation[] = [
  {
    use: 'oidc',
    step: 'rotate',
    title: 'OpenID Connect',
    question: t('console.keys.oidc.question'),
    button: t('console.keys.rotate'),
    lead: t('console.keys.oidc.lead'),
  },
  {
    use: 'saml',
    step: 'publish',
    title: t('console.keys.first-step', { use: 'SAML' }),
    question: t('console.keys.saml.publish-question'),
    button: t('console.keys.publish'),
    lead: t('console.keys.saml.publish-lead'),
  },
  {
    use: 'saml',
    step: 'activate',
    title: t('console.keys.second-step', { use: 'SAML' }),
    question: t('console.keys.saml.activate-question'),
    button: t('console.keys.activate-certificate'),
    lead: t('console.keys.saml.activate-lead'),
  },
  ...upstream('saml-sp'),
  ...upstream('saml-sp-encryption'),
];

/** The step that comes next for these keys of one use. */
function rotationsNow(use: KeyUse, keys: readonly Pick<KeyInfo, 'state'>[]): Rotation[] {
  const hasNext = keys.some(({ state }) => state === 'next');
  const step = use === 'oidc' ? 'rotate' : hasNext ? 'activate' : 'publish';
  return ROTATIONS.filter((one) => one.use === use && one.step === step);
}

/** Why the step is not possible now, and when it is; undefined when it is. */
function obstacleOf(
  { use, step }: Pick<Rotation, 'use' | 'step'>,
  keys: readonly KeyInfo[],
  dates: { now: Date; policy: RotationPolicy },
): Text | undefined {
  const plan = planRotation(keys, { use, activate: step === 'activate' }, dates);
  if (plan.outcome === 'too-early') return t('console.keys.possible-from', { at: plan.readyAt });
  if (plan.outcome === 'published-already') return t('console.keys.outcome.published-already');
  if (plan.outcome === 'go') return undefined;
  return use === 'oidc' ? t('console.keys.no-next') : t('console.keys.outcome.nothing-to-activate');
}

// The list of those who verify SAML signatures.

/** The service providers, and what is known about each. */
function verifierTable(verifiers: readonly Verifier[], isMore: boolean, hasNext: boolean): Block {
  const advice = hasNext ? t('console.keys.verifiers-before-activation') : t('console.keys.verifiers-after-publishing');
  const count = verifiers.length;
  return {
    kind: 'table',
    title: t('console.keys.verifiers'),
    lead: sentences([t('console.keys.verifiers-unknown'), advice]),
    caption: t('console.keys.verifiers-caption'),
    columns: [
      t('console.keys.application'),
      t('console.keys.last-sign-in'),
      t('console.keys.its-metadata'),
      t('console.keys.contacts'),
      t('console.keys.trusts-next'),
    ],
    rows: verifiers.map((one) => rowOf(one, hasNext)),
    empty: t('console.keys.no-verifiers'),
    count: isMore ? t('console.keys.first-count', { count }) : t('console.keys.count', { count }),
  };
}

function rowOf({ application, lastSignIn, nextReadAt, isWaiting }: Verifier, hasNext: boolean): Cell[] {
  const { id, name, metadata } = application;
  const contacts = 'contacts' in metadata ? (metadata.contacts ?? []) : [];
  const byUrl = 'metadata_url' in metadata && metadata.metadata_url !== undefined;
  const source: Cell = byUrl
    ? [t('console.keys.from-url'), nextReadAt ?? t('console.keys.soon')]
    : 'metadata_xml' in metadata && metadata.metadata_xml
      ? t('console.keys.pasted')
      : t('console.keys.by-hand');
  const waiting = {
    text: t('console.keys.change-waits'),
    href: `/admin/applications/${id}/metadata`,
    tone: 'warn' as const,
  };
  return [
    { text: name, href: `/admin/applications/${id}`, logo: { name } },
    lastSignIn ?? t('console.keys.no-sign-in'),
    isWaiting ? [source, waiting] : source,
    contacts.join(', '),
    hasNext ? { text: t('console.keys.unknown'), tone: 'warn' as const } : null,
  ];
}
