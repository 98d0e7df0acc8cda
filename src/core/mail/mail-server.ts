// The mail server and the sender at this moment: those of the environment, or else those of the settings, which a change
// replaces without a restart.

import { isLoopback } from '../../base/config/addresses.ts';
import type { Config } from '../../base/config.ts';
import type { SettingName, Settings } from '../settings/settings.ts';
import { mailPort } from '../settings/value-schemas.ts';

export interface SmtpServer {
  host: string;
  port: number;
  /** `opportunistic` is that of smtp:// in SMTP_URL: STARTTLS where the server offers it. */
  tls: 'starttls' | 'implicit' | 'none' | 'opportunistic';
  username?: string | undefined;
  password?: string | undefined;
  /** SMTP_URL, where it decides. */
  url?: string;
}

export type MailServer = ReturnType<typeof createMailServer>;

export function createMailServer({
  config: { smtpUrl, mailFrom, issuerUrl },
  settings,
}: {
  config: Config;
  settings: Pick<Settings, 'latest' | 'reload'>;
}) {
  const ofEnvironment = smtpUrl === undefined ? undefined : serverAt(smtpUrl);
  const senderOfEnvironment = mailFrom === undefined ? undefined : parsedSender(mailFrom);
  const fromEnvironment: { [Name in SettingName]?: { variable: string; value: object } } = {
    ...(ofEnvironment && { mail_server: { variable: 'SMTP_URL', value: withoutPassword(ofEnvironment) } }),
    ...(senderOfEnvironment && { mail_sender: { variable: 'MAIL_FROM', value: senderOfEnvironment } }),
  };
  const standardSender = `no-reply@${isLoopback(issuerUrl.hostname) ? 'localhost' : issuerUrl.hostname}`;

  function current(): SmtpServer | undefined {
    if (ofEnvironment) return ofEnvironment;
    const setting = settings.latest().mail_server;
    return setting && { ...setting, port: mailPort(setting) };
  }
  return {
    /** Undefined where mail is written to files. */
    current,
    isSet: () => current() !== undefined,
    /** The same before a mail is sent: another instance may have set the server a moment ago. */
    async forMail(): Promise<SmtpServer | undefined> {
      if (!current()) await settings.reload();
      return current();
    },
    /** The sender, with its own name or that of the brand. */
    sender(brand?: string): { name: string; address: string } {
      const set = senderOfEnvironment ?? settings.latest().mail_sender;
      if (set) return { name: set.name || brand || '', address: set.address };
      return { name: brand ?? 'Gatehouse', address: standardSender };
    },
    /** Neither the environment nor a setting names the sender. */
    hasStandardSender: () => (senderOfEnvironment ?? settings.latest().mail_sender) === undefined,
    /** The settings that the environment replaces, with their values and the name of the variable. */
    fromEnvironment,
  };
}

/** `host:port`, as pages display it. */
export const addressOf = ({ host, port }: SmtpServer): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** `Name <address>`, as pages display it. */
export const senderText = ({ name, address }: { name: string; address: string }): string =>
  name ? `${name} <${address}>` : address;

function serverAt(url: string): SmtpServer {
  const { protocol, hostname, port, username, password } = new URL(url);
  const tls = protocol === 'smtps:' ? 'implicit' : 'opportunistic';
  return {
    host: hostname.replace(/^\[|\]$/g, ''),
    port: Number(port) || (tls === 'implicit' ? 465 : 587),
    tls,
    ...(username && { username: decoded(username) }),
    ...(password && { password: decoded(password) }),
    url,
  };
}

const withoutPassword = ({ host, port, tls, username }: SmtpServer) => ({ host, port, tls, username });

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function parsedSender(text: string): { name: string; address: string } {
  const [, name = '', address = text] = /^(.*)<([^<>]+)>$/s.exec(text) ?? [];
  return { name: name.trim().replace(/^"(.*)"$/s, '$1'), address };
}
