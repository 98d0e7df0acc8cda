// /admin/applications/:id/provisioning: how the provisioning of an application goes, what it would do, and what an administrator decides.
import { nameAndUsername } from '../../../base/http/pages/tokens.ts';
import { limits } from '../../../base/limits.ts';
import { present } from '../../../base/platform/defined.ts';
import { type PageText, t } from '../../../base/texts/text.ts';
import type {
  ChangeKind,
  PreviewedPerson,
  ProvisioningCheck,
  ProvisioningState,
  RejectedObject,
} from '../../../protocols/provisioning/provisioning.ts';
import type { TargetDecision } from '../../../protocols/provisioning/targets.ts';
import type { Action, Block, ConsolePage } from '../../console/blocks.ts';
import { tableOf } from '../../console/lists.ts';
import type { Visit } from '../../console/pages.ts';
import type { ConsoleServices } from '../../console-services.ts';
import type { Pages } from '../../noun-pages.ts';
import type { ApplicationDetails } from '../actions.ts';
import { DECIDE_PROVISIONED, decisions, READ_PROVISIONED } from '../provisioning.ts';
import type { OpenApplication } from './tab-page.ts';

const USERS = 'gatehouse.users:read' as const;
const KINDS: readonly ChangeKind[] = ['create', 'update', 'deactivate', 'delete'];

/** The pages …/provisioning/preview and …/test, and the buttons. */
export function addProvisioningPages(
  { one, change }: Pages<ApplicationDetails>,
  { admin: { provisioning } }: ConsoleServices,
): void {
  const at = (id: string) => `/admin/applications/${id}/provisioning`;
  one('/provisioning/preview', {
    needs: READ_PROVISIONED,
    async page({ by, subject: { application } }) {
      const { id, name } = application;
      const { changes, unchanged, isCut } = await provisioning.preview(id, by);
      return {
        title: t('console.provisioning.preview.title', { name }),
        lead: t('console.provisioning.preview.lead'),
        back: { href: at(id), label: name },
        blocks: present([
          {
            kind: 'stats',
            items: [
              ...KINDS.map((kind) => ({
                label: t(`console.provisioning.kind.${kind}`),
                value: changes[kind].count,
              })),
              { label: t('console.provisioning.kind.unchanged'), value: unchanged },
            ],
          },
          isCut && cutNotice,
          ...KINDS.filter((kind) => changes[kind].count > 0).map((kind) => peopleTable(kind, changes[kind])),
        ]),
      };
    },
  });
  change('/provisioning/test', {
    async submit({ by, subject: { application } }) {
      return { result: testPage(application, await provisioning.test(application.id, by)) };
    },
  });
  for (const decision of decisions)
    change(`/provisioning/${decision}`, {
      ...(decision === 'approve' && { needs: DECIDE_PROVISIONED }),
      async submit({ by, subject: { application } }) {
        await provisioning.decide(application.id, decision, by);
        return { to: at(application.id), notice: t('console.provisioning.decided', { decision }) };
      },
    });
}

const cutNotice: Block = {
  kind: 'text',
  tone: 'notice',
  text: t('console.provisioning.preview.cut', { count: limits.provisioning.previewed }),
};

function peopleTable(
  kind: ChangeKind,
  { count, people }: { count: number; people: readonly PreviewedPerson[] },
): Block {
  return {
    kind: 'table',
    title: t(`console.provisioning.kind.${kind}`),
    ...(count > people.length && {
      lead: t('console.provisioning.preview.first', { count: people.length, all: count }),
    }),
    ...tableOf(people, [
      [
        t('console.shared.name'),
        ({ id, username, name }) =>
          username === null
            ? { text: id, code: true }
            : { text: nameAndUsername({ username, name }), href: `/admin/users/${id}` },
      ],
      kind === 'update' && [
        t('console.provisioning.attributes'),
        ({ attributes }) => ({ text: attributes.join(', '), code: true }),
      ],
    ]),
  };
}

function testPage({ id, name }: { id: string; name: string }, checks: readonly ProvisioningCheck[]): ConsolePage {
  const failed = checks.filter(({ isOk }) => !isOk);
  return {
    title: t('console.provisioning.test.title', { name }),
    back: { href: `/admin/applications/${id}/provisioning`, label: name },
    blocks: [
      {
        kind: 'result',
        isGood: failed.length === 0,
        title: t('console.provisioning.test.result', { failed: failed.length }),
        causes: [],
      },
      {
        kind: 'rules',
        title: t('console.provisioning.test.calls'),
        rules: checks.map(({ check, isOk, error }) => ({
          label: t(`console.provisioning.check.${check}`),
          state: isOk ? ('passed' as const) : ('failed' as const),
          ...(error !== undefined && { received: error, registered: '200' }),
        })),
        expectedLabel: t('console.website-test.expected'),
      },
    ],
  };
}

/** What the tab displays above its form. */
export async function provisioningBlocks(
  { by, may }: Visit<ApplicationDetails>,
  { application, path, mayChange }: OpenApplication,
  { admin: { provisioning } }: ConsoleServices,
): Promise<Block[]> {
  if (!application.metadata.provision) return [];
  const state = await provisioning.state(application.id, by);
  const rejected = may(USERS) ? await provisioning.rejected(application.id, by) : [];
  const post = (decision: TargetDecision | 'test', label: PageText, icon?: string): Action => ({
    label,
    post: `${path}/provisioning/${decision}`,
    ...(icon && { icon }),
  });
  const preview: Action = { label: t('console.provisioning.preview'), href: `${path}/provisioning/preview` };
  const pause = state.pausedAt
    ? post('resume', t('console.provisioning.resume'))
    : post('pause', t('console.provisioning.pause'));
  const actions = present([
    mayChange && post('test', t('console.provisioning.test'), 'play'),
    may(USERS) && preview,
    ...(mayChange ? [post('compare', t('console.provisioning.compare')), pause] : []),
  ]);
  return present([
    ...problems(state, application.enabled),
    state.stoppedAt &&
      mayChange &&
      may(USERS) && {
        kind: 'tasks',
        title: t('console.provisioning.stopped.title'),
        isDanger: true,
        rows: [
          {
            text: t('console.provisioning.stopped.text', { held: state.held, active: state.active }),
            action: { ...post('approve', t('console.provisioning.approve')), look: 'danger' },
          },
        ],
      },
    {
      kind: 'facts',
      title: t('console.provisioning.state'),
      actions,
      rows: [
        { label: t('console.provisioning.active'), value: state.active },
        { label: t('console.provisioning.waiting'), value: state.waiting },
        {
          label: t('console.provisioning.compared'),
          value:
            state.position === null
              ? (state.comparedAt ?? t('console.provisioning.not-yet'))
              : t('console.provisioning.comparing'),
        },
        { label: t('console.provisioning.next'), value: state.compareAt ?? t('console.provisioning.soon') },
      ],
    },
    rejected.length > 0 && rejectedTable(rejected),
  ]);
}

function problems(state: ProvisioningState, isEnabled: boolean): Block[] {
  const { pausedAt, pausedBy, failingSince, lastError, stoppedAt, held, active } = state;
  const warning = (text: PageText): Block => ({ kind: 'text', tone: 'warning', text });
  if (!isEnabled) return [warning(t('console.provisioning.disabled'))];
  return present([
    pausedAt && warning(t('console.provisioning.paused', { by: pausedBy ?? '', error: lastError ?? '' })),
    failingSince &&
      !pausedAt &&
      warning(t('console.provisioning.failing', { at: failingSince, error: lastError ?? '' })),
    stoppedAt && warning(t('console.provisioning.stopped.text', { held, active })),
  ]);
}

function rejectedTable(rejected: readonly RejectedObject[]): Block {
  return {
    kind: 'table',
    title: t('console.provisioning.rejected'),
    ...tableOf(rejected, [
      [
        t('console.shared.name'),
        ({ kind, id, name }) =>
          name === null
            ? { text: id, code: true }
            : { text: name, href: `/admin/${kind === 'group' ? 'groups' : 'users'}/${id}` },
      ],
      [t('console.provisioning.answer'), ({ error }) => error],
      [t('console.provisioning.next-try'), ({ nextTryAt }) => nextTryAt],
    ]),
  };
}
