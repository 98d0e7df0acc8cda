// A browser without a screen: stores cookies, follows redirects on request, fills in forms. On node:http,
// because fetch hides the Host header, Set-Cookie and redirects, and those are what many tests are about.
import dns from 'node:dns';
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { type CookieJar, cookieJar } from './cookies.ts';
import { type Form, formsOf } from './pages/html.ts';

export interface RequestOptions {
  headers?: Record<string, string>;
  /** Sent as application/x-www-form-urlencoded. */
  form?: Record<string, string> | URLSearchParams;
  json?: unknown;
  body?: string | Uint8Array;
}

export interface Page {
  url: string;
  status: number;
  headers: http.IncomingHttpHeaders;
  /** The Set-Cookie headers of this very response. */
  setCookie: string[];
  text: string;
  /** Where a redirect leads, resolved. */
  location?: string;
  json<T = Record<string, unknown>>(): T;
  forms: Form[];
}

/** What is typed into a form: a list ticks these check boxes of one name. */
export type Typed = Record<string, string | readonly string[]>;

export interface HttpClient {
  cookies: CookieJar;
  get(url: string, options?: RequestOptions): Promise<Page>;
  post(url: string, options?: RequestOptions): Promise<Page>;
  request(method: string, url: string, options?: RequestOptions): Promise<Page>;
  /** Follows redirects until there is none, or until one leads to an address that `stop` accepts. */
  follow(page: Page, stop?: (url: string) => boolean): Promise<Page>;
  /** Sends a form of the page with these fields filled in; `form` picks one by what its action holds. */
  submit(page: Page, fields?: Typed, options?: SubmitOptions): Promise<Page>;
}

export interface SubmitOptions {
  /** Part of the action of the form that is meant; the first form with all the fields otherwise. */
  form?: string;
  /** The name or label of the button that is pressed. */
  button?: string;
  headers?: Record<string, string>;
}

export interface ClientOptions {
  /** Sent with every request. */
  headers?: Record<string, string>;
  /** Keeps connections; by default each request has its own. */
  agent?: http.Agent;
  /** The certificate authority to trust, as PEM; by default the well-known ones. */
  authority?: string;
}

/** A client with an empty cookie jar. Relative addresses are resolved against `base`. */
export function httpClient(base?: string, defaults: ClientOptions = {}): HttpClient {
  const cookies = cookieJar();

  const request: HttpClient['request'] = async (method, address, options = {}) => {
    const url = new URL(address, base);
    const { body, type } = bodyOf(options);
    const headers: Record<string, string> = { accept: 'text/html,*/*;q=0.8', ...defaults.headers };
    if (type) headers['content-type'] = type;
    if (body !== undefined) headers['content-length'] = String(Buffer.byteLength(body));
    const cookie = cookies.headerFor(url);
    if (cookie) headers.cookie = cookie;
    const allHeaders = { ...headers, ...lowerCased(options.headers) };
    const { agent = false, authority: ca } = defaults;
    const response = await send(url, { method, headers: allHeaders, agent, ...(ca !== undefined && { ca }) }, body);
    const setCookie = response.headers['set-cookie'] ?? [];
    cookies.store(url, setCookie);
    return pageOf(url, response, setCookie, await readText(response));
  };

  const follow: HttpClient['follow'] = async (page, stop = () => false) => {
    let current = page;
    for (let hops = 0; current.location && !stop(current.location); hops += 1) {
      if (hops === 20) throw new Error(`Redirects do not end: ${current.url} -> ${current.location}`);
      current = await request('GET', current.location);
    }
    return current;
  };

  const submit: HttpClient['submit'] = async (page, fields = {}, options = {}) => {
    const withButton = options.form === undefined && page.forms.find((one) => hasButton(one, options.button));
    const form = withButton || pickForm(page, fields, options.form);
    const button = options.button
      ? form.buttons.find(({ name, label }) => name === options.button || label === options.button)
      : form.buttons[0];
    if (options.button && !button) throw new Error(`No button "${options.button}" in the form to ${form.action}`);
    const pressed = button?.name ? { [button.name]: button.value } : {};
    const values = encoded({ ...form.fields, ...form.ticks, ...pressed, ...fields });
    // What a browser says about a form it sends to the page's own origin.
    const headers = { origin: new URL(page.url).origin, 'sec-fetch-site': 'same-origin', ...options.headers };
    if (form.method === 'post') return request('POST', form.action, { form: values, headers });
    return request('GET', `${form.action.split('?')[0]}?${values}`, { headers: options.headers });
  };

  return {
    cookies,
    request,
    follow,
    submit,
    get: (url, options) => request('GET', url, options),
    post: (url, options) => request('POST', url, options),
  };
}

function send(url: URL, options: https.RequestOptions, body?: string | Uint8Array): Promise<http.IncomingMessage> {
  const { request } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { lookup, ...options }, resolve);
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** The servers under test listen on IPv4. Looking `localhost` up would take longer than many a request, and few systems know names below it. */
const lookup: LookupFunction = (host, options, found) => {
  if (!/(^|\.)localhost$/.test(host)) dns.lookup(host, options, found);
  else if (options.all) found(null, [{ address: '127.0.0.1', family: 4 }]);
  else found(null, '127.0.0.1', 4);
};

function bodyOf({ form, json, body }: RequestOptions): { body?: string | Uint8Array; type?: string } {
  if (form) return { body: new URLSearchParams(form).toString(), type: 'application/x-www-form-urlencoded' };
  if (json !== undefined) return { body: JSON.stringify(json), type: 'application/json' };
  return { body };
}

function encoded(values: Typed): URLSearchParams {
  const pairs = Object.entries(values).flatMap(([name, value]) => [value].flat().map((one) => [name, one]));
  return new URLSearchParams(pairs);
}

function lowerCased(headers: Record<string, string> = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function pageOf(url: URL, response: http.IncomingMessage, setCookie: string[], text: string): Page {
  const { statusCode: status = 0, headers } = response;
  const isHtml = headers['content-type']?.startsWith('text/html') ?? false;
  return {
    url: url.href,
    status,
    headers,
    setCookie,
    text,
    location: headers.location === undefined ? undefined : new URL(headers.location, url).href,
    json: () => JSON.parse(text),
    forms: isHtml ? formsOf(text, url.href) : [],
  };
}

/** A page may have a form for each button. */
function hasButton({ buttons }: Page['forms'][number], wanted: string | undefined): boolean {
  return wanted !== undefined && buttons.some(({ label }) => label === wanted);
}

function pickForm(page: Page, fields: Typed, action?: string): Form {
  const form = action
    ? page.forms.find((candidate) => candidate.action.includes(action))
    : (page.forms.find((candidate) => Object.keys(fields).every((name) => name in candidate.fields)) ?? page.forms[0]);
  if (form) return form;
  throw new Error(`No such form on ${page.url} (status ${page.status}):\n${page.text.slice(0, 2000)}`);
}
