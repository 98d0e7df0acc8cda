// What the DNS says about the domain of the sender, and what is missing so that other mail servers accept its mail.

import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';
import { isLoopback } from '../../base/config/addresses.ts';
import type { ResolveTxt } from '../../base/network/txt-records.ts';
import { type PageText, t } from '../../base/texts/text.ts';

export interface SenderRecord {
  kind: 'SPF' | 'DKIM' | 'DMARC';
  /** `unknown`: it could not be looked up. */
  state: 'good' | 'weak' | 'absent' | 'unknown';
  /** The name that was looked up, and where a missing record belongs. */
  name: string;
  /** What it means and what to do. */
  text: PageText;
  /** The record that the DNS has, or one to add. */
  value?: string;
}

/** A selector of DKIM (RFC 6376 3.1). */
export const SELECTOR = /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/i;
export const MAX_SELECTOR = 100;

const MAX_RECORDS = 100;
const MAX_TEXT = 500;
/** Of the domain and those above it, as there is no list of public suffixes (RFC 7489 3.2). */
const MAX_NAMES = 8;

/** The domain of an address as the DNS has it; undefined for one that is not public. */
export function publicDomainOf(address: string): string | undefined {
  const domain = domainToASCII(address.slice(address.lastIndexOf('@') + 1)).replace(/\.$/, '');
  return domain.includes('.') && !isLoopback(domain) && isIP(domain) === 0 ? domain : undefined;
}

/** Looks up SPF (RFC 7208), DKIM (RFC 6376) and DMARC (RFC 7489) of a domain. Never rejects. */
export function senderRecords(
  resolveTxt: ResolveTxt,
  domain: string,
  { host, selector }: { host?: string | undefined; selector?: string | undefined },
): Promise<SenderRecord[]> {
  const look = async (name: string) => {
    const records = await resolveTxt(name);
    return records.slice(0, MAX_RECORDS).map((text) => text.slice(0, MAX_TEXT).trim());
  };
  const orUnknown = (kind: SenderRecord['kind'], name: string, found: Promise<SenderRecord>): Promise<SenderRecord> =>
    found.catch(() => ({ kind, name, state: 'unknown', text: t('console.mail.records.no-answer', { name }) }));
  return Promise.all([
    orUnknown('SPF', domain, spf(look, domain, host)),
    orUnknown('DKIM', `${selector ?? '…'}._domainkey.${domain}`, dkim(look, domain, selector)),
    orUnknown('DMARC', `_dmarc.${domain}`, dmarc(look, domain)),
  ]);
}

type Look = (name: string) => Promise<string[]>;

async function spf(look: Look, domain: string, host: string | undefined): Promise<SenderRecord> {
  const base = { kind: 'SPF', name: domain } as const;
  const records = (await look(domain)).filter((text) => /^v=spf1(\s|$)/i.test(text));
  const [value] = records;
  if (value === undefined) {
    const isPublic = host?.includes('.') && isIP(host) === 0 && !isLoopback(host);
    const added = `v=spf1 ${isPublic ? `a:${host}` : 'mx'} ~all`;
    return { ...base, state: 'absent', text: t('console.mail.records.spf.absent', { domain }), value: added };
  }
  // RFC 7208 4.5: receivers then use none of them.
  if (records.length > 1)
    return { ...base, state: 'weak', text: t('console.mail.records.spf.several', { domain }), value };
  if (/\s\+?all(\s|$)/i.test(value)) return { ...base, state: 'weak', text: t('console.mail.records.spf.all'), value };
  return { ...base, state: 'good', text: t('console.mail.records.spf.good'), value };
}

async function dkim(look: Look, domain: string, selector: string | undefined): Promise<SenderRecord> {
  const name = `${selector ?? '…'}._domainkey.${domain}`;
  const base = { kind: 'DKIM', name } as const;
  if (selector === undefined) return { ...base, state: 'unknown', text: t('console.mail.records.dkim.no-selector') };
  const value = (await look(name)).find((text) => /(^|;)\s*p\s*=/i.test(text));
  if (value === undefined) return { ...base, state: 'absent', text: t('console.mail.records.dkim.absent', { name }) };
  if (/(^|;)\s*p\s*=\s*(;|$)/i.test(value))
    return { ...base, state: 'weak', text: t('console.mail.records.dkim.revoked', { name }), value };
  return { ...base, state: 'good', text: t('console.mail.records.dkim.good'), value };
}

async function dmarc(look: Look, domain: string): Promise<SenderRecord> {
  const labels = domain.split('.');
  const parents = labels.slice(0, -1).map((_, at) => labels.slice(at).join('.'));
  const names = [...new Set([domain, ...parents.slice(1 - MAX_NAMES)])].map((name) => `_dmarc.${name}`);
  const answers = await Promise.all(names.map(look));
  const isPolicy = (text: string) => /^v\s*=\s*DMARC1\s*(;|$)/i.test(text);
  const at = answers.findIndex((records) => records.some(isPolicy));
  const base = { kind: 'DMARC', name: names[at] ?? `_dmarc.${domain}` } as const;
  const value = answers[at]?.find(isPolicy);
  if (value === undefined) {
    const added = `v=DMARC1; p=none; rua=mailto:postmaster@${domain}`;
    return {
      ...base,
      state: 'absent',
      text: t('console.mail.records.dmarc.absent', { name: base.name }),
      value: added,
    };
  }
  const isStrict = /;\s*p\s*=\s*(quarantine|reject)\s*(;|$)/i.test(value);
  return isStrict
    ? { ...base, state: 'good', text: t('console.mail.records.dmarc.good'), value }
    : { ...base, state: 'weak', text: t('console.mail.records.dmarc.none'), value };
}
