// The label and the explanation of each rule, for administrators.
import type { RuleId } from '../../rejections/rules.ts';

interface RuleText {
  label: string;
  explanation?: string;
}

const LETTER_BY_LETTER = 'They must match exactly';

export const ruleTexts: Record<RuleId, RuleText> = {
  account: {
    label: 'The user has an account, or the connection creates one',
    explanation:
      'To create accounts automatically, turn on create_users in the connection. Otherwise, invite the user first.',
  },
  answer: {
    label: 'The identity provider answered without an error',
    explanation: 'The text comes from the identity provider. Check its log too.',
  },
  audience: { label: 'The ID token is for this server (aud, azp)' },
  connection: { label: 'The connection is enabled and accepted by the application' },
  fresh: {
    label: 'The user signed in there recently enough',
    explanation: 'Without auth_time, the identity provider can’t prove that a sign-in is recent.',
  },
  nonce: { label: 'The ID token belongs to this request (nonce)' },
  subject: { label: 'The answer identifies the user' },
  tenant: { label: 'The user is from an allowed organization (tid, hd)' },
  access: { label: 'The user has access to the application' },
  acs: { label: 'The ACS URL is registered', explanation: `${LETTER_BY_LETTER}.` },
  algorithm: { label: 'The signature algorithm is accepted' },
  binding: { label: 'The response binding is HTTP-POST' },
  certificate: {
    label: 'The signing certificate is registered',
    explanation:
      'Compare the fingerprint with the people who run the application. Don’t use contact details from this request.',
  },
  client: { label: 'The application is registered and enabled' },
  code: {
    label: 'The code or refresh token is valid',
    explanation:
      'A code works once, for one minute, with its own redirect URI and PKCE verifier. A refresh token works until access is revoked.',
  },
  context: { label: 'The requested kind of sign-in is available' },
  destination: {
    label: 'The Destination is this address',
    explanation: 'The application uses a different address for this server than the metadata has.',
  },
  encryption: { label: 'The assertion can be encrypted where required' },
  form: { label: 'The message is a readable sign-in request' },
  grant: { label: 'The grant type is allowed' },
  hint: { label: 'The id_token_hint is from this server and for this application' },
  issuer: { label: 'The issuer is the sender' },
  method: { label: 'Client authentication uses the registered method' },
  name_id: { label: 'The requested NameID format is available' },
  passive: { label: 'The request doesn’t contradict itself' },
  pkce: {
    label: 'The request has a PKCE challenge',
    explanation:
      'Turn on PKCE in the application. Without PKCE, an attacker can use a stolen code. If the application doesn’t support it, set require_pkce: false.',
  },
  post_logout_redirect_uri: {
    label: 'The post-logout redirect URI is registered',
    explanation: `${LETTER_BY_LETTER}: scheme, case, slash at the end.`,
  },
  redirect_uri: {
    label: 'The redirect URI is registered',
    explanation: `${LETTER_BY_LETTER}: scheme, case, slash at the end.`,
  },
  replay: { label: 'The message is new' },
  request: { label: 'The rest of the request is valid' },
  resource: { label: 'The API is registered, and this application has access to it' },
  response_type: { label: 'The response type is code' },
  scope: { label: 'The scopes are allowed' },
  secret: {
    label: 'The secret or key is correct',
    explanation: 'The application uses an incorrect client secret. Create a new one and paste it into the application.',
  },
  signed: { label: 'The message is signed where required' },
  time: {
    label: 'The message is recent',
    explanation: 'Compare it with the time of this server. The clocks differ, or the page was open too long.',
  },
};
