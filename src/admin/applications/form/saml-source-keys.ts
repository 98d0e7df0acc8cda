// The keys by which a service provider is known: the URL of its metadata, the document, or its addresses and certificates by hand.
import type { Field } from '../../console/blocks.ts';
import { type Sent, sentValue } from '../../console/row-buttons.ts';
import { type Key, rowsKey, textKey, urlKey, type Values } from './keys.ts';
import type { KeySection } from './sections.ts';

/** How the service provider is known: the field that the three groups of keys belong to. */
export const METADATA_SOURCE = 'metadata_source';
type Source = 'url' | 'paste' | 'hand';

export function sourceOf({ metadata_url, metadata }: Values): Source {
  if (metadata_url !== undefined) return 'url';
  return metadata === undefined ? 'hand' : 'paste';
}

/** The choice itself is no key: it says which keys are sent. */
const sourceField = (values: Values): Field => ({
  name: METADATA_SOURCE,
  label: 'Source',
  type: 'radios',
  value: sourceOf(values),
  hint: 'Where Gatehouse gets the addresses and keys of the application from. The entity ID never changes.',
  options: [
    { value: 'url', label: 'By URL', hint: 'Read again every day.' },
    { value: 'paste', label: 'By document', hint: 'The XML, pasted.' },
    { value: 'hand', label: 'By hand', hint: 'You enter each ACS URL and certificate.' },
  ],
});

/** A key that only counts with its source; with another one it is left out. */
const of = (source: Source, key: Key): Key => ({
  ...key,
  read: (sent: Sent) => (sentValue(sent, METADATA_SOURCE) === source ? key.read(sent) : undefined),
});

type Acs = string | { url: string; index?: number; default?: boolean };
type Slo = { url: string; binding?: string; response_url?: string };
type Certificate = string | { use?: string; pem: string };

const isWhole = (text: string) => /^\d{1,9}$/.test(text);

const acsKey = rowsKey(
  {
    key: 'acs_url',
    label: 'ACS URLs',
    hint: 'Where responses are sent by POST. The index is 0 to 65535; without one, the rows are numbered from 0. Without a default, the first row is it.',
  },
  {
    adds: 'ACS URL',
    columns: [
      { name: 'url', label: 'URL' },
      { name: 'index', label: 'Index', isNarrow: true },
      {
        name: 'default',
        label: 'Default',
        type: 'select',
        options: [
          { value: '', label: '–' },
          { value: 'yes', label: 'Default' },
        ],
      },
    ],
    toLines: (value) =>
      [value as Acs | Acs[]].flat().map((one) => {
        if (typeof one === 'string') return [one, '', ''];
        return [one.url, one.index === undefined ? '' : String(one.index), one.default ? 'yes' : ''];
      }),
    fromLines: (lines) =>
      lines.map(([url = '', index = '', isDefault]) =>
        index === '' && !isDefault
          ? url
          : {
              url,
              ...(index !== '' && { index: isWhole(index) ? Number(index) : index }),
              ...(isDefault && { default: true }),
            },
      ),
  },
);

const sloKey = rowsKey(
  {
    key: 'slo_url',
    label: 'Single logout URLs',
    hint: 'Where Gatehouse tells the application that a session ends. SOAP is a call from this server. Optional.',
  },
  {
    adds: 'single logout URL',
    columns: [
      { name: 'url', label: 'URL' },
      {
        name: 'binding',
        label: 'Binding',
        type: 'select',
        options: [
          { value: 'redirect', label: 'Redirect' },
          { value: 'post', label: 'POST' },
          { value: 'soap', label: 'SOAP' },
        ],
      },
      { name: 'response_url', label: 'URL for responses (optional)' },
    ],
    toLines: (value) =>
      [value as Slo | Slo[]]
        .flat()
        .map(({ url, binding = 'redirect', response_url = '' }) => [url, binding, response_url]),
    fromLines: (lines) =>
      lines.length === 0
        ? undefined
        : lines.map(([url, binding, response_url]) => ({ url, binding, ...(response_url && { response_url }) })),
  },
);

const certificatesKey = rowsKey(
  {
    key: 'certificates',
    label: 'Certificates',
    hint: 'Certificates of the application in PEM form: it signs with their keys, or decrypts with them. Needed for signed requests and encryption.',
  },
  {
    adds: 'certificate',
    columns: [
      { name: 'pem', label: 'Certificate', type: 'textarea' },
      {
        name: 'use',
        label: 'Use',
        type: 'select',
        options: [
          { value: '', label: 'Both' },
          { value: 'signing', label: 'Signing' },
          { value: 'encryption', label: 'Encryption' },
        ],
      },
    ],
    toLines: (value) =>
      (value as Certificate[]).map((one) => (typeof one === 'string' ? [one, ''] : [one.pem, one.use ?? ''])),
    fromLines: (lines) =>
      lines.length === 0
        ? undefined
        : lines.map(([pem = '', use]) => ({ pem: pem.replace(/\r\n/g, '\n'), ...(use && { use }) })),
  },
);

const sourceChoice: Key = { key: METADATA_SOURCE, fields: (values) => [sourceField(values)], read: () => undefined };

/** The choice, and a section for each way. */
export const samlSources: readonly KeySection[] = [
  { title: 'Metadata', keys: [sourceChoice] },
  {
    title: 'Metadata URL',
    when: 'url',
    keys: [
      of('url', urlKey({ key: 'metadata_url', label: 'URL', hint: 'An https URL of up to 2048 characters.' })),
      of(
        'url',
        textKey(
          {
            key: 'metadata_certificate',
            label: 'Certificate of the signer',
            hint: 'PEM. With it, the document must be signed with its key, and changes need no approval. Optional.',
          },
          { isCode: true, rows: 4 },
        ),
      ),
    ],
  },
  {
    title: 'Metadata document',
    when: 'paste',
    keys: [
      of(
        'paste',
        textKey(
          { key: 'metadata', label: 'Document', hint: 'An EntityDescriptor of up to 1 MB.' },
          { isCode: true, rows: 8 },
        ),
      ),
    ],
  },
  { title: 'Assertion consumer service (ACS)', when: 'hand', keys: [of('hand', acsKey)] },
  { title: 'Single logout', when: 'hand', keys: [of('hand', sloKey)] },
  { title: 'Keys', when: 'hand', keys: [of('hand', certificatesKey)] },
];
