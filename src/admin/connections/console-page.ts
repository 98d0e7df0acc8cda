// The page of one connection: what it is, what can be done, and the state of its secrets, domains and documents.
import type { Context } from '../../base/http/context.ts';
import { t, textAt } from '../../base/texts/text.ts';
import type { Action, Block, ConsolePage } from '../console/blocks.ts';
import { dangerZone } from '../console/danger-zone.ts';
import { fileNotice } from '../console/managed-by-file.ts';
import {
  type ConnectionPagesDependencies,
  documentBlocks,
  domainBlocks,
  HOME,
  mappingBlocks,
  pathOf,
  rejectedBlocks,
  secretBlocks,
  stateTags,
  vendorBlocks,
  vendorOf,
} from './console-parts.ts';
import type { ConnectionDetails } from './manageable-connections.ts';

export async function connectionPage(
  { frame, connections, now, configFile }: ConnectionPagesDependencies,
  ctx: Context,
  details: ConnectionDetails,
): Promise<ConsolePage> {
  const { connection } = details;
  const mayTry = await connections.mayChange(frame.actor(ctx));
  const mayChange = mayTry && connection.source === 'local';
  return {
    title: connection.name,
    logo: { name: connection.name },
    back: { href: HOME, label: t('console.navigation.connections') },
    tags: stateTags(details, now()),
    actions: [...(mayTry ? [tryAction(details)] : []), ...(mayChange ? changeActions(details) : [])],
    blocks: [
      ...(connection.source === 'file' ? [fileNotice(configFile, 'connection')] : []),
      ...rejectedBlocks(details, now()),
      factsOf(details),
      ...secretBlocks(details, mayChange, now()),
      ...domainBlocks(details, mayChange),
      ...mappingBlocks(details),
      ...documentBlocks(details, mayChange),
      ...vendorBlocks(details),
      ...(mayChange ? [dangerZoneOf(details)] : []),
    ],
  };
}

/** A directory has no page of its own to sign in at: a form asks for the login. */
function tryAction({ connection }: ConnectionDetails): Action {
  const at = `${pathOf(connection.id)}/test`;
  const label = t('console.connections.try');
  return connection.kind === 'ldap' ? { label, href: at } : { label, post: at };
}

function changeActions({ connection }: ConnectionDetails): Action[] {
  const at = pathOf(connection.id);
  return [
    { label: t('console.shared.edit'), href: `${at}/edit`, look: 'primary' },
    ...(connection.enabled ? [] : [{ label: t('console.shared.enable'), post: `${at}/enable` }]),
  ];
}

function dangerZoneOf({ connection }: ConnectionDetails): Block {
  const at = pathOf(connection.id);
  const disable = {
    text: t('console.connections.disable-lead'),
    action: { label: t('console.shared.disable'), href: `${at}/disable`, look: 'danger' as const },
  };
  const remove = {
    text: t('console.connections.delete-lead'),
    action: { label: t('console.shared.delete'), href: `${at}/delete`, look: 'danger' as const },
  };
  return dangerZone(connection.enabled ? [disable, remove] : [remove]);
}

function factsOf(details: ConnectionDetails): Block {
  const { entry, connection } = details;
  const text = (key: string) => (typeof entry[key] === 'string' ? entry[key] : undefined);
  const upstream =
    text('issuer') ?? text('entity_id') ?? text('metadata_url') ?? text('authorization_url') ?? text('url');
  return {
    kind: 'facts',
    rows: [
      { label: t('console.shared.id'), value: { text: connection.id, code: true } },
      { label: t('console.connections.provider'), value: vendorOf(details) },
      { label: t('console.connections.upstream'), value: upstream ? { text: upstream, code: true } : null },
      {
        label: t('console.connections.new-accounts'),
        value: t('console.connections.new-accounts.value', { creates: entry.create_users ? 'yes' : 'no' }),
      },
      {
        label: t('console.connections.email-addresses'),
        value: textAt(`console.connection-field.trusted_email.${entry.trusted_email}`) ?? '',
      },
      {
        label: t('console.connections.sign-out'),
        value: textAt(`console.connection-field.logout.${entry.logout}`) ?? '',
      },
    ],
  };
}
