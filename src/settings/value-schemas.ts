// The schemas of single values: networks, domains, the attributes of users and the SMS gateway.
import { BlockList, isIP } from 'node:net';
import { z } from 'zod';
import { limits } from '../limits.ts';
import { containsLoopback } from '../network/networks.ts';
import { compileJsonSchema } from '../platform/json-schema.ts';

export const network = z.string().refine(isNetwork, 'must be a network such as 10.0.0.0/8 or fd00::/8');

/** Never this machine: an administrator who denied every network could not undo it in the console. */
export const deniedNetwork = network.refine((text) => !isNetwork(text) || !containsLoopback(text), {
  message: 'must not contain 127.0.0.1 or ::1, so that you can always administer the server locally',
});

/** JSON Schema of the custom attributes of users; empty: text, numbers, true or false, lists of text, under any name. */
export const attributeSchema = z.record(z.string(), z.json()).superRefine((schema, context) => {
  const reject = (message: string) => context.addIssue({ code: 'custom', message });
  if (JSON.stringify(schema).length > limits.settings.maxSchemaBytes) return reject('is too long');
  if (Object.keys(schema).length === 0) return undefined;
  if (schema.type !== 'object') return reject('must be a JSON Schema with type: object');
  try {
    compileJsonSchema(schema);
  } catch (error) {
    return reject(`isn’t a usable JSON Schema: ${error instanceof Error ? error.message : String(error)}`);
  }
});

export const mailDomain = z
  .string()
  .max(253)
  .regex(/^[\p{L}\p{N}-]+(\.[\p{L}\p{N}-]+)+$/u, 'must be a domain, such as example.com');

/** The gateway that sends SMS codes (its request is in docs/accounts.md). */
export const smsGateway = z.strictObject({
  url: z.string().max(2048).refine(isWebAddress, 'must be an http or https URL'),
  token: z.string().min(1).max(2048).optional(), // sent as Authorization: Bearer
  sender: z.string().min(1).max(20).optional(), // the sender of the SMS, if the gateway supports it
});

function isWebAddress(value: string): boolean {
  return /^https?:\/\/[^\s@]+$/.test(value) && URL.canParse(value);
}

function isNetwork(value: string): boolean {
  const [address = '', prefix, ...rest] = value.split('/');
  const family = isIP(address);
  if (family === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  if (!/^\d{1,3}$/.test(prefix)) return false;
  try {
    new BlockList().addSubnet(address, Number(prefix), family === 4 ? 'ipv4' : 'ipv6');
    return true;
  } catch {
    return false;
  }
}
