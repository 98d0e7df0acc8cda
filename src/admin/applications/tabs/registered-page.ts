// The page after the registration of an application: its secret, the settings for its side, who can sign in, and what comes next.
import type { Application } from '../../../applications/application.ts';
import type { Action, Block, ConsolePage } from '../../console/blocks.ts';
import type { IdentityProvider, Preset } from '../presets/parts.ts';
import { setupInstructionBlocks } from './setup-guide.ts';

/**
 * @param existingRoles names of roles that the administrator may assign
 */
export function registeredPage(
  application: Application,
  preset: Preset,
  identityProvider: IdentityProvider,
  existingRoles: readonly string[],
): ConsolePage {
  const { clientSecret } = identityProvider;
  const { id, name } = application;
  return {
    title: `Next: configure ${name}`,
    lead: `${name} is added. Enter these settings in it.`,
    back: { href: '/admin/applications', label: 'Applications' },
    blocks: [
      ...(clientSecret ? [secretBlock(clientSecret)] : []),
      ...setupInstructionBlocks(application, identityProvider),
      ...accessBlocks(application, preset, existingRoles),
      {
        kind: 'tasks',
        title: `When ${name} is configured`,
        rows: [
          ...(canTestSignIn(application) ? [{ text: 'See what it receives about you.', action: testSignIn(id) }] : []),
          {
            text: 'Change its settings, who can sign in and what it receives.',
            action: { label: 'View application', href: `/admin/applications/${id}` },
          },
        ],
      },
    ],
  };
}

/** The page that displays a new client secret, once. */
export function newSecretPage(
  application: Application,
  clientSecret: string,
  identityProvider: Omit<IdentityProvider, 'clientId' | 'clientSecret'>,
): ConsolePage {
  const { clientId, id, name } = application;
  return {
    title: 'New client secret',
    back: { href: `/admin/applications/${id}/credentials`, label: name },
    blocks: [
      secretBlock(clientSecret),
      ...setupInstructionBlocks(application, { ...identityProvider, clientId, clientSecret }),
    ],
  };
}

/** Where the page with a secret leads when it is reloaded. */
export const afterSecret = (path: string) => ({
  path,
  sentence: 'The client secret isn’t displayed again. If you don’t have it, create a new one.',
});

const secretBlock = (text: string): Block => ({
  kind: 'secret',
  label: 'Client secret',
  text,
  lead: 'Copy the secret now. You won’t see it again.',
});

/** In a new tab: this one may display the secret. */
const testSignIn = (id: string): Action => ({
  label: 'Test sign-in',
  icon: 'play',
  href: `/admin/test/${id}`,
  isNewTab: true,
});

function canTestSignIn({ protocol, metadata }: Application): boolean {
  return protocol === 'saml' || (metadata.redirect_uris.length > 0 && !metadata.require_pushed_authorization_requests);
}

/** Who can sign in, and what the roles mean that the product reads. */
function accessBlocks(
  { id, name, protocol, metadata, access }: Application,
  { roles = [], withoutRoles }: Preset,
  existingRoles: readonly string[],
): Block[] {
  if (protocol === 'oidc' && metadata.redirect_uris.length === 0) return [];
  const who = access === 'everyone' ? 'Everyone' : `Users with the role ${access.roles.join(' or ')}`;
  return [
    {
      kind: 'facts',
      title: 'Who can sign in',
      actions: [{ label: 'Change', of: 'who can sign in', href: `/admin/applications/${id}/access` }],
      rows: [
        { label: 'Access', value: who },
        ...roles
          .filter((role) => existingRoles.includes(role.name))
          .map((role) => ({ label: `With ${role.name}`, value: role.description })),
        ...(withoutRoles ? [{ label: roles.length > 0 ? 'With other roles or none' : name, value: withoutRoles }] : []),
      ],
    },
  ];
}
