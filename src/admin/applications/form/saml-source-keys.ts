// The keys by which a service provider is known: the URL of its metadata, the document, or its addresses and certificates by hand.

import { t } from '../../../base/texts/text.ts';
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
  label: t('console.fields.metadata-source.label'),
  type: 'radios',
  value: sourceOf(values),
  hint: t('console.fields.metadata-source.hint'),
  options: [
    {
      value: 'url',
      label: t('console.fields.metadata-source.url'),
      hint: t('console.fields.metadata-source.url-hint'),
    },
    {
      value: 'paste',
      label: t('console.fields.metadata-source.paste'),
      hint: t('console.fields.metadata-source.paste-hint'),
    },
    {
      value: 'hand',
      label: t('console.fields.metadata-source.hand'),
      hint: t('console.fields.metadata-source.hand-hint'),
    },
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

const isWhole = (text: string) => /^-?\d{1,9}$/.test(text);

const acsKey = rowsKey(
  {
    key: 'acs_url',
    label: t('console.fields.acs.label'),
    hint: t('console.fields.acs.hint'),
  },
  {
    adds: t('console.fields.acs.adds'),
    columns: [
      { name: 'url', label: t('console.fields.url') },
      { name: 'index', label: t('console.fields.acs.index'), isNarrow: true },
      {
        name: 'default',
        label: t('console.fields.acs.default'),
        type: 'select',
        options: [
          { value: '', label: '–' },
          { value: 'yes', label: t('console.fields.acs.default') },
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
    label: t('console.fields.slo.label'),
    hint: t('console.fields.slo.hint'),
  },
  {
    adds: t('console.fields.slo.adds'),
    columns: [
      { name: 'url', label: t('console.fields.url') },
      {
        name: 'binding',
        label: t('console.fields.slo.binding'),
        type: 'select',
        options: [
          { value: 'redirect', label: t('console.fields.slo.redirect') },
          { value: 'post', label: 'POST' },
          { value: 'soap', label: 'SOAP' },
        ],
      },
      { name: 'response_url', label: t('console.fields.slo.response-url') },
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
    label: t('console.fields.certificates.label'),
    hint: t('console.fields.certificates.hint'),
  },
  {
    adds: t('console.fields.certificates.adds'),
    columns: [
      { name: 'pem', label: t('console.fields.certificates.certificate'), type: 'textarea' },
      {
        name: 'use',
        label: t('console.fields.certificates.use'),
        type: 'select',
        options: [
          { value: '', label: t('console.fields.both') },
          { value: 'signing', label: t('console.fields.certificates.signing') },
          { value: 'encryption', label: t('console.fields.encryption') },
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
  { title: t('console.fields.metadata.title'), keys: [sourceChoice] },
  {
    title: t('console.fields.metadata-url.title'),
    when: 'url',
    keys: [
      of(
        'url',
        urlKey({ key: 'metadata_url', label: t('console.fields.url'), hint: t('console.fields.metadata-url.hint') }),
      ),
      of(
        'url',
        textKey(
          {
            key: 'metadata_certificate',
            label: t('console.fields.metadata-certificate.label'),
            hint: t('console.fields.metadata-certificate.hint'),
          },
          { isCode: true, rows: 4 },
        ),
      ),
    ],
  },
  {
    title: t('console.fields.metadata-document.title'),
    when: 'paste',
    keys: [
      of(
        'paste',
        textKey(
          {
            key: 'metadata',
            label: t('console.fields.metadata-document.label'),
            hint: t('console.fields.metadata-document.hint'),
          },
          { isCode: true, rows: 8 },
        ),
      ),
    ],
  },
  { title: t('console.fields.acs.title'), when: 'hand', keys: [of('hand', acsKey)] },
  { title: t('console.fields.slo.title'), when: 'hand', keys: [of('hand', sloKey)] },
  { title: t('console.fields.keys.title'), when: 'hand', keys: [of('hand', certificatesKey)] },
];
