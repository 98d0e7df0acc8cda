// The fixes of a rejected request on its page: buttons, and links to the pages where a rule is changed.

import type { Action, Block, Cell, ConsolePage } from '../../admin/console/blocks.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Connection } from '../../federation/connections/connection.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';
import type { Explanation } from './explanation.ts';
import type { Fix } from './fix.ts';

const READ_CONNECTIONS = 'gatehouse.connections:read' as const;
const edit = {
  label: t('console.rejections.edit-application'),
  path: (id: string) => `/admin/applications/${id}/settings`,
};
const registration = { label: t('console.access-check.change-registration') };
/** The page of the console for a broken rule that no button fixes. */
const PAGES: Record<string, { label: PageText; path(id: string): string }> = {
  secret: { label: t('console.rejections.create-secret'), path: (id) => `/admin/applications/${id}/secret` },
  post_logout_redirect_uri: edit,
  certificate: edit,
  signature: edit,
  signing_key: edit,
  acs: edit,
  access: { label: t('console.rejections.change-access'), path: (id) => `/admin/applications/${id}/access` },
};

/** One fix on a page of its own: after a fault, and after the sign-in that it needs. */
export function fixPage(address: string, { id, label, effect, adds, warning }: Fix): ConsolePage {
  const added: Cell = { text: adds ?? '', code: true };
  return {
    title: label,
    back: { href: address, label: t('console.rejections.one') },
    blocks: [
      ...(adds === undefined
        ? []
        : [{ kind: 'facts' as const, rows: [{ label: t('console.rejections.address'), value: added }] }]),
      { kind: 'text', text: effect },
      ...(warning ? [{ kind: 'text' as const, tone: 'warning' as const, text: warning }] : []),
      {
        kind: 'form',
        action: address,
        fields: [{ name: 'fix', label: '', type: 'hidden', value: id }],
        button: label,
        cancel: address,
      },
    ],
  };
}

export type May = (permission: OwnPermission) => boolean;

/** What is known about a fix, and the buttons that this administrator may use. */
export function fixBlocks(explanation: Explanation, may: May): Block[] {
  const { application, isFixed, note, fixes } = explanation;
  const rows = fixRows(explanation, may);
  const [link, ...links] = fixLinks(explanation, may);
  const blocks: Block[] = [];
  if (isFixed) {
    blocks.push({ kind: 'text', tone: 'notice', text: t('console.rejections.is-fixed') });
  }
  if (note) blocks.push({ kind: 'text', tone: 'small', text: note });
  for (const { warning, needs } of fixes) {
    if (warning && may(needs)) blocks.push({ kind: 'text', tone: 'warning', text: warning });
  }
  const title = t('console.rejections.fix');
  if (rows.length > 0) blocks.push({ kind: 'tasks', title, rows });
  if (link) {
    const main = isFixed || rows.length > 0 ? link : { ...link, look: 'primary' as const };
    blocks.push({ kind: 'actions', ...(rows.length === 0 && { title }), items: [main, ...links] });
  }
  if (application?.source === 'file') {
    const text = t('console.rejections.file-manages');
    blocks.push({ kind: 'text', tone: 'small', text });
  }
  return blocks;
}

/** The buttons, each with what it changes for others. */
function fixRows({ rejection, fixes }: Explanation, may: May) {
  const mine = fixes.filter(({ needs }) => may(needs));
  return mine.map(({ id, label, effect }, position) => {
    const look = position === 0 ? ('primary' as const) : ('secondary' as const);
    return {
      text: effect,
      action: { label, look, post: `/admin/rejections/${rejection.code}`, fields: { fix: id } },
    };
  });
}

/** Pages of the console for a rule that no button fixes. */
function fixLinks(explanation: Explanation, may: May): Action[] {
  const { rejection, application, connection, rules, isFixed, note, problem } = explanation;
  if (rejection.endpoint === 'upstream')
    return connection && may(READ_CONNECTIONS) ? connectionLinks(explanation, connection) : [];
  if (!may('gatehouse.applications:write')) return [];
  if (!application) {
    return rejection.clientId
      ? [{ label: t('console.rejections.add-application'), href: '/admin/applications/new' }]
      : [];
  }
  const failed = rules.find(({ state }) => state === 'failed');
  const page = problem
    ? { ...registration, path: (id: string) => `/admin/applications/${id}/${problem.tab}` }
    : failed && PAGES[failed.id];
  const hasButton = fixRows(explanation, may).length > 0;
  if (!page || hasButton || isFixed || application.source === 'file') return [];
  const isPasted = note !== undefined && failed?.id !== 'access';
  return [{ label: isPasted ? t('console.rejections.paste-metadata') : page.label, href: page.path(application.id) }];
}

/** The pages of the connection where an administrator changes what the rule says. */
function connectionLinks({ rules }: Explanation, { id }: Connection): Action[] {
  const href = `/admin/connections/${id}`;
  const isSecret = rules.some((rule) => rule.state === 'failed' && rule.id === 'secret');
  return isSecret
    ? [{ label: t('console.rejections.add-secret'), href: `${href}/secret` }]
    : [{ label: t('console.rejections.open-connection'), href }];
}
