// The page that displays a new client secret, once.
import type { Application } from '../../../applications/application.ts';
import type { ConsolePage } from '../../console/blocks.ts';
import { type ApplicationPagesDependencies, setupInstructionBlocks } from '../console-parts.ts';

export function newSecretPage(
  application: Application,
  clientSecret: string,
  identityProvider: ReturnType<ApplicationPagesDependencies['identityProvider']>,
): ConsolePage {
  const { clientId, id, name } = application;
  return {
    title: 'New client secret',
    back: { href: `/admin/applications/${id}/credentials`, label: name },
    blocks: [
      { kind: 'text', tone: 'warning', text: 'Copy the secret now. You won’t see it again.' },
      { kind: 'code', label: 'Client secret', text: clientSecret },
      ...setupInstructionBlocks(application, { ...identityProvider, clientId, clientSecret }),
    ],
  };
}
