// The plans that are run: their names and variants in the suite, and the configuration that the suite gets.
import type { ClientKind, RunningGatehouse } from './gatehouse.ts';

export interface Plan {
  /** Our name, in the table and in expected-results.json. */
  name: string;
  planName: string;
  variant: Record<string, string>;
  clients: ClientKind | 'dynamic' | 'none';
}

const staticClient = { server_metadata: 'discovery', client_registration: 'static_client' };
const fapi = {
  openid: 'openid_connect',
  client_auth_type: 'private_key_jwt',
  sender_constrain: 'dpop',
  fapi_profile: 'plain_fapi',
};
const logout = { client_registration: 'static_client', response_type: 'code' };
const signing = { ...fapi, fapi_request_method: 'signed_non_repudiation', authorization_request_type: 'simple' };

const fapiPlan = 'fapi2-security-profile-final-test-plan';
const signingPlan = 'fapi2-message-signing-final-test-plan';

export const plans: readonly Plan[] = [
  { name: 'Config', planName: 'oidcc-config-certification-test-plan', variant: {}, clients: 'none' },
  { name: 'Basic', planName: 'oidcc-basic-certification-test-plan', variant: staticClient, clients: 'basic' },
  {
    name: 'Form Post',
    planName: 'oidcc-formpost-basic-certification-test-plan',
    variant: staticClient,
    clients: 'basic',
  },
  {
    name: 'Dynamic',
    planName: 'oidcc-dynamic-certification-test-plan',
    variant: { response_type: 'code' },
    clients: 'dynamic',
  },
  {
    name: 'RP-initiated logout',
    planName: 'oidcc-rp-initiated-logout-certification-test-plan',
    variant: logout,
    clients: 'basic',
  },
  {
    name: 'Back-channel logout',
    planName: 'oidcc-backchannel-rp-initiated-logout-certification-test-plan',
    variant: logout,
    clients: 'back-channel',
  },
  {
    name: 'Front-channel logout',
    planName: 'oidcc-frontchannel-rp-initiated-logout-certification-test-plan',
    variant: logout,
    clients: 'front-channel',
  },
  { name: 'FAPI 2 Security Profile, ES256', planName: fapiPlan, variant: fapi, clients: 'fapi-es256' },
  { name: 'FAPI 2 Security Profile, PS256', planName: fapiPlan, variant: fapi, clients: 'fapi-ps256' },
  {
    name: 'FAPI 2 Message Signing, JAR, ES256',
    planName: signingPlan,
    variant: { ...signing, fapi_response_mode: 'plain_response' },
    clients: 'signing-es256',
  },
  {
    name: 'FAPI 2 Message Signing, JAR, PS256',
    planName: signingPlan,
    variant: { ...signing, fapi_response_mode: 'plain_response' },
    clients: 'signing-ps256',
  },
  {
    name: 'FAPI 2 Message Signing, JAR and JARM, ES256',
    planName: signingPlan,
    variant: { ...signing, fapi_response_mode: 'jarm' },
    clients: 'jarm-es256',
  },
  {
    name: 'FAPI 2 Message Signing, JAR and JARM, PS256',
    planName: signingPlan,
    variant: { ...signing, fapi_response_mode: 'jarm' },
    clients: 'jarm-ps256',
  },
];

/** The configuration of the plan, as the suite takes it. */
export async function configurationOf(plan: Plan, gatehouse: RunningGatehouse): Promise<object> {
  const { issuer, alias } = gatehouse;
  const common = {
    alias,
    description: plan.name,
    server: { discoveryUrl: `${issuer}/.well-known/openid-configuration` },
    resource: { resourceUrl: `${issuer}/userinfo` },
  };
  if (plan.clients === 'none') return common;
  if (plan.clients === 'dynamic') {
    const token = (await gatehouse.cli('app', 'registration-token', '--without-pkce', '--json')).trim();
    const { initial_access_token } = JSON.parse(token) as { initial_access_token: string };
    const client = (client_name: string) => ({ client_name, initial_access_token });
    return { ...common, client: client('First'), client2: client('Second') };
  }
  const [client, client2] = gatehouse.clients[plan.clients];
  if (client.client_secret) return { ...common, client, client2, client_secret_post: client };
  const suiteClient = ({ client_id, jwks }: typeof client) => ({
    client_id,
    jwks,
    scope: 'openid profile email offline_access',
    dpop_signing_alg: jwks?.keys[0]?.alg,
  });
  return { ...common, client: suiteClient(client), client2: suiteClient(client2) };
}
