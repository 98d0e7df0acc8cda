// The first products that signed in by SAML; others are in the files of their kinds.
import { faultMessage } from '../../../base/platform/fault-messages.ts';
import { t } from '../../../base/texts/text.ts';
import { code } from './guide-text.ts';
import { answer, DNS_LABEL, DOMAIN, hostField, type ProductPreset, samlSettings, suchAs, TICKED } from './parts.ts';

// AWS IAM User Guide, "Configure SAML assertions for the authentication response": recipient, attribute names, formats.
export const aws: ProductPreset = {
  id: 'aws',
  life: { renews: false, signOut: 'own', session: 'SessionDuration: 1h', certificates: 'none' },
  kind: 'office',
  documentation: 'https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_providers_create_saml_assertions.html',
  checkedAgainst: 'AWS IAM User Guide, Configure SAML assertions for the authentication response (read 2026-11)',
  title: 'AWS',
  text: t('console.preset.aws.text'),
  protocol: 'saml',
  hasOwnAccess: true,
  demands: { role: 'to-sign-in', roleNames: /^arn:[\w-]+:iam::\d{12}:role\/[^,]+,arn:/ },
  fields: [
    {
      name: 'account',
      label: t('console.preset.aws.account'),
      hint: t('console.preset.aws.account-hint'),
      required: true,
    },
    { name: 'provider', label: t('console.preset.aws.provider'), value: 'Gatehouse', required: true },
    {
      name: 'iam_role',
      label: t('console.preset.aws.iam-role'),
      hint: t('console.preset.aws.iam-role-hint'),
      required: true,
    },
    { name: 'role', label: t('console.preset.aws.role'), hint: t('console.preset.aws.role-hint'), required: true },
  ],
  toDeclaration: (answers) => {
    const account = answer(answers, 'account', /^\d{12}$/, faultMessage('aws-account'));
    const provider = answer(answers, 'provider', /^[\w._-]{1,128}$/, faultMessage('aws-provider'));
    const iamRole = answer(answers, 'iam_role', /^[\w+=,.@/-]{1,512}$/, faultMessage('aws-role'));
    const role = answer(answers, 'role', /\S/, faultMessage('empty'));
    const arn = `arn:aws:iam::${account}:role/${iamRole},arn:aws:iam::${account}:saml-provider/${provider}`;
    return {
      name: 'AWS',
      entity_id: 'urn:amazon:webservices',
      acs_url: 'https://signin.aws.amazon.com/saml',
      name_id_format: 'persistent',
      attributes: {
        'https://aws.amazon.com/SAML/Attributes/Role': 'roles',
        'https://aws.amazon.com/SAML/Attributes/RoleSessionName': 'preferred_username',
      },
      roles_filter: [role],
      roles_rename: { [role]: arn },
      access: { roles: [role] },
      idp_initiated: true,
    };
  },
  setupInstructions: ({ issuer }, { roles_rename }) => [
    {
      title: t('console.preset.in-shell', { product: 'AWS' }),
      text: `curl -o gatehouse.xml ${issuer}/saml/metadata
aws iam create-saml-provider --name ${samlProviderArn(roles_rename).split('/').at(-1)} --saml-metadata-document file://gatehouse.xml`,
    },
    {
      title: t('console.preset.aws.trust-policy'),
      text: `{
  "Version": "2012-10-17",
  "Statement": [{
    "Effect": "Allow",
    "Principal": { "Federated": "${samlProviderArn(roles_rename)}" },
    "Action": "sts:AssumeRoleWithSAML",
    "Condition": { "StringEquals": { "SAML:aud": "https://signin.aws.amazon.com/saml" } }
  }]
}`,
    },
  ],
};

/** The ARN of the identity provider, from the renamed role. */
function samlProviderArn(rolesRename: unknown): string {
  return String(Object.values(Object(rolesRename))[0] ?? '').split(',')[1] ?? '';
}

// support.google.com/a/answer/6349809: entity ID with the domain-specific issuer, form of the ACS URL, NameID.
export const googleWorkspace: ProductPreset = {
  id: 'google-workspace',
  life: { renews: false, signOut: 'own', session: 'Session control: 14 d', certificates: 'none' },
  kind: 'office',
  documentation: 'https://support.google.com/a/answer/6349809',
  checkedAgainst: 'Google Workspace Admin Help, Assertion requirements, answer 6349809 (read 2026-11)',
  title: 'Google Workspace',
  text: t('console.preset.google-workspace.text'),
  protocol: 'saml',
  fields: [
    { name: 'domain', label: t('console.preset.google-workspace.domain'), hint: suchAs('example.com'), required: true },
  ],
  toDeclaration: (answers) => {
    const domain = answer(answers, 'domain', DOMAIN, faultMessage('domain-name')).toLowerCase();
    return {
      name: 'Google Workspace',
      entity_id: `google.com/a/${domain}`,
      acs_url: `https://www.google.com/a/${domain}/acs`,
      name_id_format: 'emailAddress',
      idp_initiated: true,
    };
  },
  setupInstructions: (identityProvider) => [
    {
      title: 'Admin console → Security → SSO with third-party IdP → SSO profile for your organization',
      text: code`${samlSettings(identityProvider, { sso: 'Sign-in page URL' })}
Sign-out page URL: ${identityProvider.issuer}/logout
Change password URL: ${identityProvider.issuer}/account/password
Use a domain-specific issuer: ${TICKED}`,
    },
  ],
};

// help.salesforce.com: xcloud.sso_jit_requirements (names of the fields, and that User.ProfileId is required for new users),
// security_auth_slo_saml_sp_configuring (logout address), My Domain as entity ID.
export const salesforce: ProductPreset = {
  id: 'salesforce',
  life: { renews: false, signOut: 'everywhere', session: 'Session Settings: 2h', certificates: 'none' },
  kind: 'office',
  documentation: 'https://help.salesforce.com/s/articleView?id=xcloud.sso_jit_requirements.htm&type=5',
  checkedAgainst: 'Salesforce Help, Just-in-Time Provisioning Requirements and SAML Single Logout (read 2026-11)',
  title: 'Salesforce',
  text: t('console.preset.salesforce.text'),
  protocol: 'saml',
  fields: [hostField('my_domain', t('console.preset.salesforce.my-domain'), '.my.salesforce.com')],
  toDeclaration: (answers) => {
    const origin = `https://${answer(answers, 'my_domain', DNS_LABEL, faultMessage('dns-label')).toLowerCase()}.my.salesforce.com`;
    return {
      name: 'Salesforce',
      entity_id: origin,
      acs_url: origin,
      slo_url: { url: `${origin}/services/auth/sp/saml2/logout`, binding: 'post' },
      name_id_format: 'emailAddress',
      attributes: {
        'User.Username': 'email',
        'User.Email': 'email',
        'User.FirstName': 'given_name',
        'User.LastName': 'family_name',
        'User.FederationIdentifier': 'email',
      },
      idp_initiated: true,
    };
  },
  setupInstructions: (identityProvider) => [
    {
      title: 'Setup → Single Sign-On Settings → New',
      text: code`${samlSettings(identityProvider, { entity: 'Issuer', sso: 'Identity Provider Login URL', slo: 'Identity Provider Single Logout URL' })}
SAML Identity Type: Assertion contains the Federation ID from the User object
SAML Identity Location: Identity is in the NameIdentifier element of the Subject statement
Service Provider Initiated Request Binding: HTTP Redirect
User Provisioning Enabled: ${t('console.preset.salesforce.provisioning', { attribute: 'User.ProfileId' })}`,
    },
  ],
};

// slack.com/help/articles/205168057: ACS URL, entity ID, persistent NameID, attribute names, signed response, no single logout.
export const slack: ProductPreset = {
  id: 'slack',
  life: {
    renews: false,
    signOut: 'own',
    session: 'Settings & permissions → Authentication → Session duration',
    certificates: 'none',
  },
  kind: 'communication',
  documentation: 'https://slack.com/help/articles/205168057-Custom-SAML-single-sign-on',
  checkedAgainst: 'Slack Help Center, Custom SAML single sign-on, article 205168057 (read 2026-11)',
  title: 'Slack',
  text: t('console.preset.slack.text'),
  protocol: 'saml',
  demands: { email: 'address' },
  fields: [hostField('workspace', t('console.preset.slack.workspace'), '.slack.com')],
  toDeclaration: (answers) => {
    const origin = `https://${answer(answers, 'workspace', DNS_LABEL, faultMessage('dns-label')).toLowerCase()}.slack.com`;
    return {
      name: 'Slack',
      entity_id: 'https://slack.com',
      acs_url: `${origin}/sso/saml`,
      name_id_format: 'persistent',
      attributes: {
        'User.Email': 'email',
        'User.Username': 'preferred_username',
        first_name: 'given_name',
        last_name: 'family_name',
      },
      sign: 'both',
      idp_initiated: true,
    };
  },
  setupInstructions: (identityProvider) => [
    {
      title: 'Workspace settings → Authentication → SAML',
      text: code`${samlSettings(identityProvider, { sso: 'SAML 2.0 Endpoint (HTTP)', entity: 'Identity Provider Issuer' })}
Service Provider Issuer: https://slack.com
${t('console.preset.slack.sign')}`,
    },
  ],
};
