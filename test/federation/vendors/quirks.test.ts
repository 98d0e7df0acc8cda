// Whole sign-ins at a bare oidc-provider that deviates as each vendor does. What the preset knows makes them succeed.
import { beforeAll, describe, expect, it } from 'vitest';
import { redirectUri } from '../../oidc/support.ts';
import { aCredential } from '../../saml/support.ts';
import { aClient } from '../../support/factories.ts';
import type { TestIdp } from '../../support/idp.ts';
import { expectNotSignedIn, expectSignedIn } from '../../support/pages/enter.ts';
import { sharedIdpWithConnections } from '../../support/shared-idp.ts';
import type { OidcQuirks } from '../../support/upstream/oidc-upstream.ts';
import { answerXml, aSamlUpstream, beginAt, postAnswer } from '../../support/upstream/saml-upstream.ts';
import { accountOf, anUpstream, type Connected, isAtApplication, signInOver } from '../support.ts';

const PATH = '/.well-known/openid-configuration';
const role = `vendor-staff-${process.pid}`;
let idp: TestIdp;

beforeAll(async () => {
  idp = await sharedIdpWithConnections();
  await idp.services.roles.create({ name: role });
});

interface Vendor {
  /** Of the connection. */
  fields(origin: string): Record<string, unknown>;
  /** The claims of the ID token. */
  user: { sub: string; [claim: string]: unknown };
  quirks(origin: string): OidcQuirks;
  subject?: string;
  /** What the account has afterwards. */
  account: Record<string, unknown>;
}

const tenant = '5c1f6a52-1a2b-4c3d-8e4f-000000000001';
/** The issuer that the discovery document, the answer and the ID token name. */
const issuedBy = (issuer: string): OidcQuirks => ({
  discovery: { issuer },
  answer: { iss: issuer },
  idToken: { iss: issuer },
});
const silent = { authorization_response_iss_parameter_supported: undefined };

const LINKEDIN = 'LinkedIn, without nonce and PKCE and with another issuer than its address';
const ENTRA = 'Entra ID, whose tenants share a discovery document';

const vendors: Record<string, Vendor> = {
  'Google, of a Workspace': {
    fields: () => ({ preset: 'google', allowed_hosted_domains: ['corp.example'] }),
    user: { sub: 'google-1', email: 'gia@corp.example', email_verified: 'true', hd: 'corp.example' },
    quirks: () => ({}),
    account: { email: 'gia@corp.example', emailVerified: true },
  },
  'Google, with an address that it does not host': {
    fields: () => ({ preset: 'google' }),
    user: { sub: 'google-2', email: 'gus@other.example', email_verified: true },
    quirks: () => ({}),
    account: { email: null },
  },
  [ENTRA]: {
    fields: (origin) => ({
      preset: 'entra',
      tenant: 'organizations',
      allowed_tenants: [tenant],
      groups_claim: 'groups',
      issuer: `${origin}/{tenantid}/v2.0`,
      discovery_url: `${origin}/organizations/v2.0${PATH}`,
    }),
    user: { sub: 'pairwise', tid: tenant, oid: 'oid-1', email: 'eve@corp.example', xms_edov: true, groups: ['staff'] },
    quirks: (origin) => ({
      discovery: { issuer: `${origin}/{tenantid}/v2.0`, ...silent },
      idToken: { iss: `${origin}/${tenant}/v2.0` },
      answer: { iss: undefined },
    }),
    subject: `${tenant}:oid-1`,
    account: { roles: [role] },
  },
  'GitLab, whose userinfo has other groups than the ID token': {
    fields: (origin) => ({ preset: 'gitlab', issuer: origin }),
    user: { sub: 'gitlab-1', groups_direct: ['staff'], email: 'gil@corp.example', email_verified: true },
    quirks: () => ({ userinfo: { sub: 'gitlab-1', groups: ['staff', 'staff/inherited'] } }),
    account: { email: 'gil@corp.example', roles: [role] },
  },
  [LINKEDIN]: {
    fields: (origin) => ({ preset: 'linkedin', issuer: `${origin}/issuer`, discovery_url: `${origin}/oauth${PATH}` }),
    user: { sub: 'linkedin-1', email: 'lin@corp.example', email_verified: 'true' },
    quirks: (origin) => {
      const { discovery, idToken } = issuedBy(`${origin}/issuer`);
      return {
        discovery: { ...discovery, ...silent },
        idToken: { ...idToken, nonce: undefined },
        answer: { iss: undefined },
        rejects: ['code_challenge'],
      };
    },
    account: { email: 'lin@corp.example', emailVerified: true },
  },
  'Okta, of a custom server below the address of the org': {
    fields: (origin) => ({ preset: 'okta', issuer: `${origin}/oauth2/default`, groups_claim: 'groups' }),
    user: { sub: 'okta-1', groups: ['staff'] },
    quirks: (origin) => issuedBy(`${origin}/oauth2/default`),
    account: { roles: [role] },
  },
  'Auth0, whose issuer ends in a slash, with a claim of its own': {
    fields: (origin) => ({ preset: 'auth0', issuer: `${origin}/`, groups_claim: 'https://corp.example/roles' }),
    user: { sub: 'auth0|1', 'https://corp.example/roles': ['staff'] },
    quirks: (origin) => issuedBy(`${origin}/`),
    account: { roles: [role] },
  },
  'Keycloak, which sends iss without announcing it, and groups as paths': {
    fields: (origin) => ({ preset: 'keycloak', issuer: `${origin}/realms/one`, role_mappings: { '/staff': role } }),
    user: { sub: 'keycloak-1', groups: ['/staff'] },
    quirks: (origin) => {
      const { discovery, ...others } = issuedBy(`${origin}/realms/one`);
      return { ...others, discovery: { ...discovery, ...silent } };
    },
    account: { roles: [role] },
  },
  'AD FS, whose userinfo has the subject alone': {
    fields: (origin) => ({ preset: 'adfs', kind: 'oidc', issuer: `${origin}/adfs`, groups_claim: 'group' }),
    user: { sub: 'adfs-1', upn: `ada-${process.pid}`, group: 'staff' },
    quirks: (origin) => {
      const { discovery, idToken } = issuedBy(`${origin}/adfs`);
      const userinfo = { sub: 'another identifier of the same user' };
      return { discovery: { ...discovery, ...silent }, idToken, userinfo, answer: { iss: undefined } };
    },
    account: { username: `ada-${process.pid}`, roles: [role] },
  },
};

/** The upstream of a vendor; `fields` replace those of the connection. */
async function vendorUpstream(
  name: string,
  fields: Record<string, unknown> = {},
): Promise<Connected & { vendor: Vendor }> {
  const vendor = vendors[name];
  if (!vendor) throw new Error(`no vendor ${name}`);
  const client = { token_endpoint_auth_method: 'client_secret_post' };
  const connected = await anUpstream(
    idp,
    (origin) => ({ role_mappings: { staff: role }, ...vendor.fields(origin), ...fields }),
    { client },
  );
  connected.upstream.user = vendor.user;
  connected.upstream.quirks = { acceptsAnySecret: true, ...vendor.quirks(connected.upstream.issuer) };
  return { ...connected, vendor };
}

describe('an upstream that deviates as its vendor', () => {
  it.each(Object.keys(vendors))('signs users in: %s', async (name) => {
    const { connection, remove, vendor } = await vendorUpstream(name);
    const { page } = await signInOver(idp, connection);
    expectSignedIn(page);
    expect(await accountOf(idp, connection, vendor.subject ?? vendor.user.sub)).toMatchObject(vendor.account);
    await remove();
  });

  it.each<[string, string, string, Record<string, unknown>, (origin: string) => OidcQuirks]>([
    ['with PKCE, which LinkedIn rejects', 'answer', LINKEDIN, { pkce: true }, () => ({})],
    ['with a nonce, which LinkedIn does not return', 'nonce', LINKEDIN, { nonce: true }, () => ({})],
    [
      'with userinfo of AD FS',
      'userinfo',
      'AD FS, whose userinfo has the subject alone',
      { preset: undefined },
      () => ({}),
    ],
    [
      'at Okta by a token of the org server',
      'issuer',
      'Okta, of a custom server below the address of the org',
      {},
      (origin) => ({ idToken: { iss: origin } }),
    ],
    [
      'at Auth0 by an issuer without its slash',
      'issuer',
      'Auth0, whose issuer ends in a slash, with a claim of its own',
      {},
      (origin) => ({ idToken: { iss: origin } }),
    ],
    [
      'at Keycloak by an answer without iss',
      'issuer',
      'Keycloak, which sends iss without announcing it, and groups as paths',
      {},
      () => ({ answer: { iss: undefined } }),
    ],
    [
      'at Entra ID by a token of a tenant that is not listed',
      'tenant',
      ENTRA,
      {},
      (origin) => ({ idToken: { iss: `${origin}/another/v2.0`, tid: 'another' } }),
    ],
    [
      'at Entra ID by a token of another tenant that names a listed one',
      'issuer',
      ENTRA,
      {},
      (origin) => ({ idToken: { iss: `${origin}/another/v2.0` } }),
    ],
  ])('signs nobody in %s', async (_title, rule, name, fields, quirks) => {
    const { upstream, connection, remove } = await vendorUpstream(name, fields);
    upstream.user = { ...upstream.user, sub: 'rejected', oid: 'rejected' };
    upstream.quirks = { ...upstream.quirks, ...quirks(upstream.issuer) };
    const { page } = await signInOver(idp, connection);
    const code = /Error reference: <strong[^>]*>([A-Z0-9-]+)</.exec(page.text)?.[1] ?? '';
    const failed = (await idp.services.rejections.find(code))?.rules.find(({ state }) => state === 'failed');
    expectNotSignedIn(page);
    expect(failed?.rule).toBe(rule);
    expect(await idp.services.db.externalIdentity.count({ where: { connectionId: connection } })).toBe(0);
    await remove();
  });
});

describe('AD FS over SAML', () => {
  it('signs users in by metadata with WS-Federation roles, without RequestedAuthnContext, by its names of claims', async () => {
    const entity_id = 'http://adfs.corp.example/adfs/services/trust';
    const address = 'https://adfs.corp.example/adfs/ls/';
    const group = 'http://schemas.xmlsoap.org/claims/Group';
    const claim = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims';
    const credential = aCredential();
    const fields = {
      preset: 'adfs',
      entity_id,
      groups_claim: group,
      role_mappings: { staff: role },
      sso_url: undefined,
    };
    const created = await aSamlUpstream(idp, {
      ...fields,
      certificates: undefined,
      metadata: adfsMetadata(entity_id, address, credential.certificatePem),
    });
    const adfs = { ...created, entityId: entity_id, credential };
    const { clientId } = await aClient(idp.services, { redirect_uris: [redirectUri] });
    const begun = await beginAt(idp, adfs, { clientId, acr_values: 'urn:gatehouse:acr:password' });
    expect(begun.location.href.split('=')[0]).toBe(`${address}?SAMLRequest`);
    expect(begun.xml).not.toContain('RequestedAuthnContext');
    const attributes = {
      [`${claim}/emailaddress`]: 'ada@corp.example',
      [`${claim}/name`]: 'Ada',
      [group]: ['staff', 'all'],
    };
    const posted = await postAnswer(
      begun.browser,
      answerXml(idp, adfs, begun.requestId, { nameId: 'adfs-saml', attributes }),
    );
    expectSignedIn(await begun.browser.follow(posted, isAtApplication));
    expect(await accountOf(idp, adfs.connection, 'adfs-saml')).toMatchObject({ name: 'Ada', roles: [role] });
    await idp.services.connections.remove(adfs.connection);
  });
});

/** The order and the roles of FederationMetadata.xml. */
function adfsMetadata(entityId: string, address: string, certificatePem: string): string {
  const certificate = certificatePem.replace(/-----[^-]+-----|\s/g, '');
  const key = (use: string) =>
    `<KeyDescriptor use="${use}"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${certificate}</X509Certificate></X509Data></KeyInfo></KeyDescriptor>`;
  const fed = 'http://docs.oasis-open.org/wsfed/federation/200706';
  const role = (type: string) =>
    `<RoleDescriptor xsi:type="fed:${type}" protocolSupportEnumeration="http://docs.oasis-open.org/ws-sx/ws-trust/200512 ${fed}" ServiceDisplayName="AD FS" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:fed="${fed}">${key('signing')}<fed:ClaimTypesOffered><auth:ClaimType Uri="urn:x" Optional="true" xmlns:auth="http://docs.oasis-open.org/wsfed/authorization/200706"><auth:DisplayName>X</auth:DisplayName></auth:ClaimType></fed:ClaimTypesOffered><fed:PassiveRequestorEndpoint><EndpointReference xmlns="http://www.w3.org/2005/08/addressing"><Address>${address}</Address></EndpointReference></fed:PassiveRequestorEndpoint></RoleDescriptor>`;
  const at = (name: string) =>
    ['Redirect', 'POST']
      .map((one) => `<${name} Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-${one}" Location="${address}"/>`)
      .join('');
  const format = '<NameIDFormat>urn:oasis:names:tc:SAML:2.0:nameid-format:persistent</NameIDFormat>';
  const protocol = 'protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"';
  return `<?xml version="1.0"?><EntityDescriptor ID="_1" entityID="${entityId}" xmlns="urn:oasis:names:tc:SAML:2.0:metadata">
    ${role('ApplicationServiceType')}${role('SecurityTokenServiceType')}
    <SPSSODescriptor WantAssertionsSigned="true" ${protocol}>${key('encryption')}${key('signing')}${at('SingleLogoutService')}${format}
      <AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${address}" index="0" isDefault="true"/></SPSSODescriptor>
    <IDPSSODescriptor ${protocol}>${key('encryption')}${key('signing')}${at('SingleLogoutService')}${format}${at('SingleSignOnService')}
      <Attribute Name="urn:x" NameFormat="urn:oasis:names:tc:SAML:2.0:attrname-format:uri" FriendlyName="X" xmlns="urn:oasis:names:tc:SAML:2.0:assertion"/></IDPSSODescriptor>
    <ContactPerson contactType="support"/></EntityDescriptor>`;
}
