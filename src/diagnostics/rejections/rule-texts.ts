// The label and the explanation of each rule, for administrators.
import type { RuleId } from '../../rejections/rules.ts';

interface RuleText {
  label: string;
  explanation?: string;
}

const LETTER_BY_LETTER = 'They have to agree letter by letter';

export const ruleTexts: Record<RuleId, RuleText> = {
  account: {
    label: 'The user has an account here, or may get one',
    explanation: 'create_users of the connection gives each of its users an account; otherwise invite the user first.',
  },
  answer: {
    label: 'The identity provider answers without an error',
    explanation: 'The text is that of the identity provider; look in its log, too.',
  },
  audience: { label: 'The ID token is for this server (aud, azp)' },
  connection: { label: 'The connection is enabled and accepted by the application' },
  fresh: {
    label: 'The user has signed in there as recently as demanded',
    explanation: 'An identity provider that sends no auth_time cannot prove that a sign-in is recent.',
  },
  nonce: { label: 'The ID token belongs to this request (nonce)' },
  subject: { label: 'It says who the user is' },
  tenant: { label: 'The user is of an allowed organization (tid, hd)' },
  access: { label: 'The user may open the application' },
  acs: { label: 'The answer goes to a registered address (ACS)', explanation: `${LETTER_BY_LETTER}.` },
  algorithm: { label: 'The signature algorithm is accepted' },
  binding: { label: 'The answer may be posted' },
  certificate: {
    label: 'Its certificate is registered',
    explanation:
      'Compare the fingerprint with what the people who run the application tell you, on another way than this request.',
  },
  client: { label: 'The application is registered and enabled' },
  code: {
    label: 'The code or refresh token is good',
    explanation:
      'A code works once, for a minute, with the redirect URI and the PKCE verifier that belong to it; a refresh token once, until access is taken away.',
  },
  context: { label: 'The kind of sign-in it asks for can be given' },
  destination: {
    label: 'It was meant for this address',
    explanation: 'The application has another address of this server than the one in its metadata.',
  },
  encryption: { label: 'The assertion can be encrypted where it has to be' },
  form: { label: 'The message can be read and is a sign-in request' },
  grant: { label: 'The grant is allowed' },
  hint: { label: 'The ID token in it (id_token_hint) is one of this server, for this application' },
  issuer: { label: 'Issuer and sender are the same' },
  method: { label: 'It proves itself in the registered way' },
  name_id: { label: 'The identifier it asks for can be given' },
  passive: { label: 'It does not ask for two opposites' },
  pkce: {
    label: 'It brings a PKCE challenge',
    explanation:
      'Switch PKCE on in the application: without it a stolen code could be used. Where the application can not, its registration may say require_pkce: false.',
  },
  post_logout_redirect_uri: {
    label: 'The address to go to after the sign-out is registered',
    explanation: `${LETTER_BY_LETTER}: scheme, case, slash at the end.`,
  },
  redirect_uri: {
    label: 'The redirect URI is registered',
    explanation: `${LETTER_BY_LETTER}: scheme, case, slash at the end.`,
  },
  replay: { label: 'It was not seen before' },
  request: { label: 'The rest of the request is in order' },
  resource: { label: 'The API is registered, and this application may ask for it' },
  response_type: { label: 'It asks for a code' },
  scope: { label: 'The scopes are allowed' },
  secret: {
    label: 'The secret or key is right',
    explanation: 'The application uses a wrong client secret. Create a new one and paste it into the application.',
  },
  signed: { label: 'It is signed where it has to be' },
  time: {
    label: 'It is neither old nor from the future',
    explanation:
      'Beside it stands the time here. The clocks of the two servers differ, or the page stood open for long.',
  },
};
