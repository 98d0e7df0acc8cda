// Example Corp: a second Gatehouse, at which the first one is a client. Its users sign in to the applications with the identity
// that they have there.
import { randomBytes } from 'node:crypto';
import { stringify } from 'yaml';

const ID = 'corp';

/** The user of Example Corp. */
export const corpUser = {
  username: 'kim',
  email: 'kim@corp.example',
  email_verified: true,
  name: 'Kim Example',
  given_name: 'Kim',
  family_name: 'Example',
  password: 'seven green kettles sing',
  roles: ['staff'],
} as const;

export interface ExampleCorp {
  /** The text of its gatehouse.yaml. */
  configuration: string;
  /** The entry of `connections:` in that of the first Gatehouse. */
  connection: Record<string, unknown>;
}

/** Both halves of the registration. They share a client secret that is made here. */
export function exampleCorp(issuer: string, gatehouse: string): ExampleCorp {
  const client = { client_id: 'demo-gatehouse', client_secret: randomBytes(32).toString('base64url') };
  const address = (name: string) => `${gatehouse}/upstream/${ID}/${name}`;
  return {
    configuration: stringify({
      clients: [
        {
          ...client,
          client_name: 'Gatehouse',
          consent: 'implicit',
          redirect_uris: [address('callback')],
          post_logout_redirect_uris: [address('signed-out')],
          backchannel_logout_uri: address('backchannel-logout'),
          backchannel_logout_session_required: true,
          scope: 'openid profile email roles',
        },
      ],
      roles: [{ name: 'staff', description: 'Works at Example Corp' }],
      users: [corpUser],
    }),
    connection: {
      id: ID,
      kind: 'oidc',
      name: 'Example Corp',
      issuer,
      ...client,
      scopes: ['openid', 'profile', 'email', 'roles'],
      create_users: true,
      groups_claim: 'roles',
      role_mappings: { staff: 'editor' },
    },
  };
}
