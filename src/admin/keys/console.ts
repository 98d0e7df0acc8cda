// /admin/keys: the signing keys and certificates of each use from next to retired, who verifies with them, and their rotation.

import Router from '@koa/router';
import { z } from 'zod';
import type { Application } from '../../applications/application.ts';
import type { Extras, State } from '../../base/http/context.ts';
import { notFound } from '../../base/http/errors.ts';
import { parseQuery } from '../../base/http/input.ts';
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
import { type Action, type Block, type Cell, type ConsolePage, hiddenField, type Stage } from '../console/blocks.ts';
import { expiryCell } from '../console/expiry.ts';
import { tableOf } from '../console/lists.ts';
import { addPage, type Visit } from '../console/pages.ts';
import type { ConsoleServices } from '../console-services.ts';

const HOME = '/admin/keys';
const WRITE = 'gatehouse.keys:write' as const;
const ROTATE = `${HOME}/rotate`;
const BACK = { href: HOME, label: t('console.navigation.signing-keys') };
const step = z.enum(['rotate', 'publish', 'activate', 'force']);
const rotateForm = z.object({ use: z.enum(keyUses), step });

/** All pages below /admin/keys. */
export function keyRoutes(services: ConsoleServices): Router<State, Extras> {
  const { frame, now, settingOf } = services;
  const { keys } = services.admin;
  const router = new Router<State, Extras>({ prefix: HOME });
  const load = async (): Promise<Keys> => ({
    all: await keys.list(),
    policy: rotationPolicy(Number(await settingOf('session_hours')) * 3600),
    now: now(),
  });

  addPage<Keys>(router, frame, '/', {
    needs: ['gatehouse.keys:read'],
    load,
    async page(visit) {
      const { all, ...dates } = visit.subject;
      const [oidc, saml, ...others] = keyUses.map((use): Block => {
        const own = all.filter((key) => key.use === use);
        const offered = visit.may(WRITE) ? rotationsNow(use, own) : [];
        const actions = offered.map((one) => linkTo(one, obstacleOf(one, own, dates)));
        const head = { title: t(`console.keys.title.${use}`), lead: t(`console.keys.lead.${use}`), actions };
        return { kind: 'stages', ...head, stages: stagesOf(own, dates) };
      });
      return {
        title: t('console.navigation.signing-keys'),
        lead: t('console.keys.lead'),
        blocks: [oidc, saml, ...(await samlVerifiers(services, visit)), ...others].filter((one) => one !== undefined),
      };
    },
  });

  addPage<Keys, z.output<typeof rotateForm>>(router, frame, '/rotate', {
    needs: [WRITE],
    load,
    form: rotateForm,
    async page(visit, given) {
      const { all, ...dates } = visit.subject;
      const { use, step: wanted } = given ?? parseQuery(visit.ctx, rotateForm.partial());
      if (use === undefined || wanted === undefined) return stepsPage((one) => obstacleOf(one, all, dates));
      const rotation = ROTATIONS.find((one) => one.use === use && one.step === wanted);
      if (!rotation) throw notFound();
      const obstacle = obstacleOf(rotation, all, dates);
      return {
        title: rotation.question,
        back: BACK,
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
                cancel: HOME,
              },
          ...(use === 'saml' && wanted === 'activate' ? await samlVerifiers(services, visit) : []),
        ],
      };
    },
    async submit({ by }, { use, step: given }) {
      const flags = { ...(given === 'activate' && { activate: true }), ...(given === 'force' && { force: true }) };
      const result = await keys.rotate({ use, ...flags }, by);
      const isDone = result.outcome === 'rotated' || result.outcome === 'published';
      return { to: HOME, notice: outcomeText(result), tone: isDone ? 'good' : 'warn' };
    },
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
const stepsPage = (obstacle: (one: Rotation) => PageText | undefined): ConsolePage => ({
  title: t('console.keys.rotate-title'),
  back: BACK,
  blocks: [
    {
      kind: 'tasks',
      title: t('console.keys.steps'),
      isDanger: true,
      rows: ROTATIONS.map((one) => ({
        title: one.title,
        text: one.lead,
        action: { ...linkTo(one, obstacle(one)), look: 'danger' },
      })),
    },
  ],
});

/** The service providers, for an administrator who may see applications. */
async function samlVerifiers(services: ConsoleServices, { may, by, subject: { all } }: Visit<Keys>): Promise<Block[]> {
  if (!may('gatehouse.applications:read')) return [];
  const { verifiers, isMore } = await serviceProviders(services, by);
  return [
    verifierTable(
      verifiers,
      isMore,
      all.some(({ use, state }) => use === 'saml' && state === 'next'),
    ),
  ];
}

const STAGES = [
  { state: 'next', title: t('console.keys.stage.next'), empty: t('console.keys.none-published'), tone: 'warn' },
  { state: 'active', title: t('console.keys.stage.active'), empty: t('console.keys.none'), tone: 'good' },
  { state: 'retired', title: t('console.keys.stage.retired'), empty: t('console.keys.none'), tone: 'plain' },
] as const;

interface Dates {
  policy: RotationPolicy;
  now: Date;
}
type Keys = Dates & { all: readonly KeyInfo[] };

/** The keys of one use as stages. */
const stagesOf = (keys: readonly KeyInfo[], dates: Dates): Stage[] =>
  STAGES.map(({ state, ...stage }) => ({
    ...stage,
    items: keys.filter((key) => key.state === state).map((key) => itemOf(key, dates)),
  }));

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

/** @param name where its texts are; it ends with the step */
function rotationOf(use: KeyUse, name: 'oidc.rotate' | `${'saml' | 'upstream'}.${'publish' | 'activate'}`): Rotation {
  const title = t(`console.keys.title.${use}`);
  const step = name.slice(name.indexOf('.') + 1) as Rotation['step'];
  return {
    use,
    step,
    title: step === 'rotate' ? title : t(`console.keys.nth-step.${step}`, { use: title }),
    question: t(`console.keys.step.${name}-question`),
    lead: t(`console.keys.step.${name}-lead`),
    button: t(`console.keys.step.${name}`),
  };
}

const ROTATIONS: readonly Rotation[] = [
  rotationOf('oidc', 'oidc.rotate'),
  rotationOf('saml', 'saml.publish'),
  rotationOf('saml', 'saml.activate'),
  rotationOf('saml-sp', 'upstream.publish'),
  rotationOf('saml-sp', 'upstream.activate'),
  rotationOf('saml-sp-encryption', 'upstream.publish'),
  rotationOf('saml-sp-encryption', 'upstream.activate'),
];

/** The step that comes next for these keys of one use. */
function rotationsNow(use: KeyUse, keys: readonly KeyInfo[]): Rotation[] {
  const ofUse = ROTATIONS.filter((one) => one.use === use);
  if (use === 'oidc') return ofUse;
  const step = keys.some(({ state }) => state === 'next') ? 'activate' : 'publish';
  return ofUse.filter((one) => one.step === step);
}

/** Why the step is not possible now, and when it is; undefined when it is. */
function obstacleOf({ use, step }: Rotation, keys: readonly KeyInfo[], dates: Dates): Text | undefined {
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
    ...tableOf(verifiers, [
      [
        t('console.keys.application'),
        ({ application: { id, name } }) => ({ text: name, href: `/admin/applications/${id}`, logo: { name } }),
      ],
      [t('console.keys.last-sign-in'), ({ lastSignIn }) => lastSignIn ?? t('console.keys.no-sign-in')],
      [t('console.keys.its-metadata'), metadataCell],
      [
        t('console.keys.contacts'),
        ({ application: { metadata } }) => ('contacts' in metadata ? (metadata.contacts ?? []) : []).join(', '),
      ],
      [t('console.keys.trusts-next'), () => (hasNext ? { text: t('console.keys.unknown'), tone: 'warn' } : null)],
    ]),
    empty: t('console.keys.no-verifiers'),
    count: isMore ? t('console.keys.first-count', { count }) : t('console.keys.count', { count }),
  };
}

/** Where the metadata comes from, and whether a change of it waits. */
function metadataCell(verifier: Verifier): Cell {
  const source = sourceCell(verifier);
  if (!verifier.isWaiting) return source;
  const href = `/admin/applications/${verifier.application.id}/metadata`;
  return [source, { text: t('console.keys.change-waits'), href, tone: 'warn' }];
}

function sourceCell({ application: { metadata }, nextReadAt }: Verifier): Cell {
  if ('metadata_url' in metadata && metadata.metadata_url !== undefined)
    return [t('console.keys.from-url'), nextReadAt ?? t('console.keys.soon')];
  const isPasted = 'metadata_xml' in metadata && Boolean(metadata.metadata_xml);
  return isPasted ? t('console.keys.pasted') : t('console.keys.by-hand');
}
