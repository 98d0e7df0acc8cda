// The attributes of SCIM resources that this server knows (RFC 7643 4, 7 and 8.7), in one table: what /Schemas says, and how a body, a path
// and a filter are read. Names are looked up in a Map, so that `__proto__` is a name that nobody knows.

export const CORE = 'urn:ietf:params:scim:schemas:core:2.0';
export const USER = `${CORE}:User`;
export const GROUP = `${CORE}:Group`;
export const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
const MESSAGES = 'urn:ietf:params:scim:api:messages:2.0';
export const LIST_RESPONSE = `${MESSAGES}:ListResponse`;
export const ERROR = `${MESSAGES}:Error`;

type Mutability = 'readWrite' | 'readOnly' | 'immutable';

/** RFC 7643 7. */
export interface Attribute {
  name: string;
  type: 'string' | 'boolean' | 'complex' | 'reference' | 'dateTime';
  description: string;
  multiValued: boolean;
  required: boolean;
  caseExact: boolean;
  mutability: Mutability;
  returned: 'always' | 'default';
  uniqueness: 'none' | 'server';
  canonicalValues?: readonly string[];
  referenceTypes?: readonly string[];
  /** In lower case. */
  subAttributes: ReadonlyMap<string, Attribute>;
}

/** The attributes of a resource by their names in lower case; those of an extension are below its URN. */
export type Attributes = ReadonlyMap<string, Attribute>;

export interface Schema {
  id: string;
  name: string;
  description: string;
  attributes: Attributes;
}

type Options = Partial<Omit<Attribute, 'name' | 'description' | 'subAttributes'>>;

function attribute(name: string, description: string, options: Options = {}, subs: readonly Attribute[] = []) {
  const defaults = { type: 'string', multiValued: false, required: false, caseExact: false } as const;
  const kinds = { mutability: 'readWrite', returned: 'default', uniqueness: 'none' } as const;
  return { name, description, ...defaults, ...kinds, ...options, subAttributes: tableOf(subs) } satisfies Attribute;
}

const tableOf = (list: readonly Attribute[]): Attributes => new Map(list.map((one) => [one.name.toLowerCase(), one]));

const complex = (name: string, description: string, subs: readonly Attribute[], options: Options = {}) =>
  attribute(name, description, { type: 'complex', ...options }, subs);

/** A list of values with a kind, one of which may be the first (RFC 7643 2.4). */
const values = (name: string, description: string, types: readonly string[], subs: readonly Attribute[] = []) =>
  complex(
    name,
    description,
    [
      ...(subs.length === 0 ? [attribute('value', 'The value')] : subs),
      attribute('display', 'For display'),
      attribute('type', 'The kind', { canonicalValues: types }),
      attribute('primary', 'Whether it is the first', { type: 'boolean' }),
    ],
    { multiValued: true },
  );

const meta = complex(
  'meta',
  'About the resource',
  [
    attribute('resourceType', 'User or Group', { caseExact: true, mutability: 'readOnly' }),
    attribute('created', 'When it was created', { type: 'dateTime', mutability: 'readOnly' }),
    attribute('lastModified', 'When it was changed last', { type: 'dateTime', mutability: 'readOnly' }),
    attribute('location', 'Its address', { type: 'reference', referenceTypes: ['uri'], mutability: 'readOnly' }),
    attribute('version', 'Its ETag', { caseExact: true, mutability: 'readOnly' }),
  ],
  { mutability: 'readOnly' },
);

/** RFC 7643 3.1: of every resource. */
const common = [
  attribute('id', 'The identifier here; of a user it is `sub`', {
    caseExact: true,
    mutability: 'readOnly',
    returned: 'always',
    uniqueness: 'server',
  }),
  attribute('externalId', 'The identifier at the client', { caseExact: true }),
  meta,
];

const user: readonly Attribute[] = [
  attribute('userName', 'What the user signs in with', { required: true, uniqueness: 'server', returned: 'always' }),
  complex('name', 'The name in parts', [
    attribute('formatted', 'The whole name'),
    attribute('familyName', 'Last name'),
    attribute('givenName', 'First name'),
    attribute('middleName', 'Middle name'),
    attribute('honorificPrefix', 'Title before the name'),
    attribute('honorificSuffix', 'Title after the name'),
  ]),
  attribute('displayName', 'The name for display'),
  attribute('nickName', 'Casual name'),
  attribute('profileUrl', 'Address of a profile page', { type: 'reference', referenceTypes: ['external'] }),
  attribute('title', 'Job title'),
  attribute('userType', 'Kind of employment'),
  attribute('preferredLanguage', 'Language tag'),
  attribute('locale', 'Language tag'),
  attribute('timezone', 'Time zone, such as Europe/Berlin'),
  attribute('active', 'Whether the user can sign in', { type: 'boolean' }),
  values('emails', 'Email addresses', ['work', 'home', 'other']),
  values('phoneNumbers', 'Phone numbers', ['work', 'home', 'mobile', 'fax', 'pager', 'other']),
  values('ims', 'Addresses of messengers', []),
  values('photos', 'Pictures', ['photo', 'thumbnail']),
  values(
    'addresses',
    'Postal addresses',
    ['work', 'home', 'other'],
    [
      attribute('formatted', 'The whole address'),
      attribute('streetAddress', 'Street and number'),
      attribute('locality', 'City'),
      attribute('region', 'State or region'),
      attribute('postalCode', 'Postal code'),
      attribute('country', 'Country'),
    ],
  ),
  complex(
    'groups',
    'The groups that the connection put the user in',
    [
      attribute('value', 'The identifier of the group', { caseExact: true, mutability: 'readOnly' }),
      attribute('$ref', 'Its address', { type: 'reference', referenceTypes: ['Group'], mutability: 'readOnly' }),
      attribute('display', 'Its name', { mutability: 'readOnly' }),
      attribute('type', 'direct', { mutability: 'readOnly', canonicalValues: ['direct'] }),
    ],
    { multiValued: true, mutability: 'readOnly' },
  ),
  values('entitlements', 'Rights at the client, which give none here', []),
  values('roles', 'Roles at the client', []),
];

const enterprise: readonly Attribute[] = [
  attribute('employeeNumber', 'Number of the employee'),
  attribute('costCenter', 'Cost center'),
  attribute('organization', 'Organization'),
  attribute('division', 'Division'),
  attribute('department', 'Department'),
  complex('manager', 'The manager', [
    attribute('value', 'The identifier of the manager', { caseExact: true }),
    attribute('$ref', 'Its address', { type: 'reference', referenceTypes: ['User'] }),
    attribute('displayName', 'The name of the manager', { mutability: 'readOnly' }),
  ]),
];

const group: readonly Attribute[] = [
  attribute('displayName', 'The name of the group', { required: true, uniqueness: 'server', returned: 'always' }),
  complex(
    'members',
    'The users that the connection put in the group',
    [
      attribute('value', 'The identifier of the user', { caseExact: true, mutability: 'immutable' }),
      attribute('$ref', 'Its address', { type: 'reference', referenceTypes: ['User'], mutability: 'immutable' }),
      attribute('type', 'User', { canonicalValues: ['User'], mutability: 'immutable' }),
    ],
    { multiValued: true },
  ),
];

export const schemas: readonly Schema[] = [
  { id: USER, name: 'User', description: 'A person', attributes: tableOf(user) },
  { id: ENTERPRISE, name: 'EnterpriseUser', description: 'A person in a company', attributes: tableOf(enterprise) },
  { id: GROUP, name: 'Group', description: 'A group of people', attributes: tableOf(group) },
];

export interface ResourceType {
  name: 'User' | 'Group';
  endpoint: '/Users' | '/Groups';
  schema: string;
  extension?: string;
  /** All attributes, those of the extension below its URN in lower case. */
  attributes: Attributes;
}

export const userType: ResourceType = {
  name: 'User',
  endpoint: '/Users',
  schema: USER,
  extension: ENTERPRISE,
  attributes: new Map([
    ...tableOf([...common, ...user]),
    [ENTERPRISE.toLowerCase(), complex(ENTERPRISE, 'Attributes of a company', enterprise)],
  ]),
};

export const groupType: ResourceType = {
  name: 'Group',
  endpoint: '/Groups',
  schema: GROUP,
  attributes: tableOf([...common, ...group]),
};

/** As /Schemas returns it (RFC 7643 7). */
export function schemaJson({ id, name, description, attributes }: Schema, base: string) {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    id,
    name,
    description,
    attributes: [...attributes.values()].map(attributeJson),
    meta: { resourceType: 'Schema', location: `${base}/Schemas/${id}` },
  };
}

function attributeJson({ subAttributes, ...one }: Attribute): object {
  const isComplex = subAttributes.size > 0;
  return { ...one, ...(isComplex && { subAttributes: [...subAttributes.values()].map(attributeJson) }) };
}
