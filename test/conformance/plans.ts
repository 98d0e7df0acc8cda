// The plans that are run: their names and variants in the suite, their clients, and the configuration that the suite gets.
import { ssfApi } from '../../src/people/rbac/built-in.ts';
import type { PlanClient, RunningGatehouse } from './gatehouse.ts';

export interface Plan {
  /** Our name, in the table and in expected-results.json. */
  name: string;
  planName: string;
  variant: Record<string, string>;
  clients: PlanClients | 'dynamic' | 'none';
}

/** The two clients of a plan. Plans with the same `id` have the same ones. */
export interface PlanClients {
  /** They are called `<id>-1` and `<id>-2`. */
  id: string;
  /** The algorithm of their keys; without it they have a secret. */
  alg?: SigningAlg;
  /** The scope that the suite requests. */
  scope?: string;
  /** Their registration besides the redirect URIs and what proves who they are; `at` gives an address of the suite. */
  metadata(at: (name: string) => string, issuer: string): object;
}

export type SigningAlg = 'ES256' | 'PS256' | 'EdDSA';

/** Clients of the plans of OpenID Connect, which send no PKCE. */
function openid(id: string, more: PlanClients['metadata'] = () => ({})): PlanClients {
  return {
    id,
    metadata: (at, issuer) => ({
      require_pkce: false,
      id_token_claims: 'conform',
      grant_types: ['authorization_code', 'refresh_token'],
      post_logout_redirect_uris: [at('post_logout_redirect')],
      ...more(at, issuer),
    }),
  };
}

function fapi(id: string, alg: SigningAlg, more: object = {}): PlanClients {
  return {
    id: `${id}-${alg.toLowerCase()}`,
    alg,
    scope: 'openid profile email offline_access',
    metadata: () => ({
      profile: 'fapi2',
      token_endpoint_auth_signing_alg: alg,
      id_token_signed_response_alg: alg,
      grant_types: ['authorization_code', 'refresh_token'],
      ...more,
    }),
  };
}

const jar = (alg: SigningAlg) => ({ require_signed_request_object: true, request_object_signing_alg: alg });
const jarm = (alg: SigningAlg) => ({ authorization_signed_response_alg: alg, response_modes: ['jwt'] });

const staticClient = { server_metadata: 'discovery', client_registration: 'static_client' };
const logout = { client_registration: 'static_client', response_type: 'code' };
const security = {
  openid: 'openid_connect',
  client_auth_type: 'private_key_jwt',
  sender_constrain: 'dpop',
  fapi_profile: 'plain_fapi',
};
const signing = { ...security, authorization_request_type: 'simple' };
const signed = { ...signing, fapi_request_method: 'signed_non_repudiation' };
/** Nothing is there. A module of the suite ends at a request that it does not expect. */
export const receiverCallback = (issuer: string): string => `${issuer}/conformance/callback`;
/** A receiver of shared signals, at which the user signs in, so that its stream has the user's events. */
const receiver: PlanClients = {
  id: 'receiver',
  scope: 'ssf.manage ssf.read',
  metadata: (_at, issuer) => ({
    require_pkce: false,
    grant_types: ['authorization_code', 'client_credentials'],
    resources: [ssfApi(issuer)],
    scope: 'openid ssf.manage ssf.read',
    redirect_uris: [receiverCallback(issuer)],
  }),
};
const transmitter = {
  server_metadata: 'discovery',
  ssf_server_metadata: 'discovery',
  ssf_auth_mode: 'dynamic',
  client_registration: 'static_client',
  client_auth_type: 'client_secret_basic',
};
const authzen = { pdp_server_metadata: 'discovery', pdp_auth_type: 'none', authzen_support: 'core' };

const securityPlan = 'fapi2-security-profile-final-test-plan';
const signingPlan = 'fapi2-message-signing-final-test-plan';

/** The policy of the AuthZEN plans: Alice may read and write records, Bob may read them. */
export const recordRoles = [
  { name: 'record-writer', permissions: ['record:read', 'record:write'] },
  { name: 'record-reader', permissions: ['record:read'] },
];
export const plans: readonly Plan[] = [
  { name: 'Config', planName: 'oidcc-config-certification-test-plan', variant: {}, clients: 'none' },
  { name: 'Basic', planName: 'oidcc-basic-certification-test-plan', variant: staticClient, clients: openid('basic') },
  {
    name: 'Form Post',
    planName: 'oidcc-formpost-basic-certification-test-plan',
    variant: staticClient,
    clients: openid('basic'),
  },
  {
    name: 'Dynamic',
    planName: 'oidcc-dynamic-certification-test-plan',
    variant: { response_type: 'code' },
    clients: 'dynamic',
  },
  {
    name: 'Third-party initiated login',
    planName: 'oidcc-3rdparty-init-login-certification-test-plan',
    variant: { response_type: 'code' },
    clients: 'dynamic',
  },
  {
    name: 'RP-initiated logout',
    planName: 'oidcc-rp-initiated-logout-certification-test-plan',
    variant: logout,
    clients: openid('basic'),
  },
  {
    name: 'Back-channel logout',
    planName: 'oidcc-backchannel-rp-initiated-logout-certification-test-plan',
    variant: logout,
    clients: openid('back-channel', (at) => ({
      backchannel_logout_uri: at('backchannel_logout'),
      backchannel_logout_session_required: true,
    })),
  },
  {
    name: 'Front-channel logout',
    planName: 'oidcc-frontchannel-rp-initiated-logout-certification-test-plan',
    variant: logout,
    clients: openid('front-channel', (at) => ({
      frontchannel_logout_uri: at('frontchannel_logout'),
      frontchannel_logout_session_required: true,
    })),
  },
  ...(['ES256', 'PS256', 'EdDSA'] as const).map((alg) => ({
    name: `FAPI 2 Security Profile, ${alg}`,
    planName: securityPlan,
    variant: security,
    clients: fapi('fapi', alg),
  })),
  {
    name: 'FAPI 2 Security Profile, plain OAuth, ES256',
    planName: securityPlan,
    variant: { ...security, openid: 'plain_oauth' },
    clients: { ...fapi('fapi', 'ES256'), scope: 'profile email offline_access' },
  },
  {
    name: 'FAPI 2 Security Profile, client credentials, ES256',
    planName: securityPlan,
    variant: { ...security, openid: 'plain_oauth', fapi_profile: 'fapi_client_credentials_grant' },
    clients: {
      ...fapi('credentials', 'ES256', { grant_types: ['client_credentials'] }),
      scope: 'profile',
    },
  },
  ...(['ES256', 'PS256'] as const).map((alg) => ({
    name: `FAPI 2 Message Signing, JAR, ${alg}`,
    planName: signingPlan,
    variant: { ...signed, fapi_response_mode: 'plain_response' },
    // The profile fapi2-signing demands JARM as well.
    clients: fapi('jar', alg, jar(alg)),
  })),
  {
    name: 'FAPI 2 Message Signing, JARM, ES256',
    planName: signingPlan,
    variant: { ...signing, fapi_request_method: 'unsigned', fapi_response_mode: 'jarm' },
    clients: fapi('jarm', 'ES256', jarm('ES256')),
  },
  ...(['ES256', 'PS256'] as const).map((alg) => ({
    name: `FAPI 2 Message Signing, JAR and JARM, ${alg}`,
    planName: signingPlan,
    variant: { ...signed, fapi_response_mode: 'jarm' },
    clients: fapi('signing', alg, { profile: 'fapi2-signing', ...jar(alg), ...jarm(alg) }),
  })),
  ...(['push', 'poll'] as const).flatMap((ssf_delivery_mode) => [
    {
      name: `Shared Signals transmitter, ${ssf_delivery_mode}`,
      planName: 'openid-ssf-transmitter-test-plan',
      variant: { ...transmitter, ssf_delivery_mode, ssf_profile: 'default' },
      clients: receiver,
    },
    {
      name: `CAEP interoperability, transmitter, ${ssf_delivery_mode}`,
      planName: 'openid-ssf-transmitter-caep-test-plan',
      variant: { ...transmitter, ssf_delivery_mode },
      clients: receiver,
    },
  ]),
  {
    name: 'AuthZEN evaluation',
    planName: 'authzen-pdp-evaluation-test-plan',
    variant: authzen,
    clients: 'none',
  },
  {
    name: 'AuthZEN evaluations',
    planName: 'authzen-pdp-evaluations-test-plan',
    variant: authzen,
    clients: 'none',
  },
];

/** The configuration of the plan, as the suite takes it. */
export async function configurationOf(plan: Plan, gatehouse: RunningGatehouse): Promise<object> {
  const { issuer, alias } = gatehouse;
  const { clients } = plan;
  const common = { alias, description: plan.name };
  const server = {
    discoveryUrl: `${issuer}/.well-known/openid-configuration`,
    // Metadata of drafts that the suite does not know: Identity and Authorization Chaining, and the Identity Assertion Grant.
    allow_unexpected_metadata_fields: [
      'authorization_grant_profiles_supported',
      'identity_chaining_requested_token_types_supported',
    ],
  };
  if (plan.planName.startsWith('authzen')) return { ...common, pdp: { policy_decision_point: issuer } };
  if (clients === 'none') return { ...common, server };
  if (clients === 'dynamic') {
    const token = await gatehouse.cli('app', 'registration-token', '--without-pkce', '--json');
    const { initial_access_token } = JSON.parse(token) as { initial_access_token: string };
    const client = (client_name: string) => ({ client_name, initial_access_token });
    return { ...common, server, client: client('First'), client2: client('Second') };
  }
  const [client, client2] = gatehouse.clients(clients.id);
  if (clients === receiver) {
    const { scope } = receiver;
    return { ...common, server, client: { ...client, scope }, ssf: { transmitter: { issuer } } };
  }
  if (!clients.alg) return { ...common, server, client, client2, client_secret_post: client };
  const { alg, scope } = clients;
  // UserInfo takes only tokens with the scope `openid` (OpenID Connect Core 1.0, 5.3).
  const resourceUrl = scope?.includes('openid') ? `${issuer}/userinfo` : gatehouse.resourceUrl;
  const suiteClient = ({ client_id, jwks }: PlanClient) => ({ client_id, jwks, scope, dpop_signing_alg: alg });
  return { ...common, server, resource: { resourceUrl }, client: suiteClient(client), client2: suiteClient(client2) };
}
