// An MCP server with notes of each person. Reading takes the scope notes:read, writing notes:write, and deleting all a sign-in with a second
// factor: the server asks for more when a tool needs more (step-up).
import { createServer, type IncomingMessage } from 'node:http';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { z } from 'zod';
import { type Caller, type Need, protect } from './protect.ts';

export const SCOPES = ['notes:read', 'notes:write'];
const MAX_BYTES = 64 * 1024;

/** What each tool needs; everything else, such as the list of tools, needs what reading does. */
const needs: Record<string, Need> = {
  add_note: { scope: 'notes:write' },
  delete_notes: { scope: 'notes:write', acr: ['urn:gatehouse:acr:mfa', 'phr'] },
};

export const mcpAddress = (port: number) => `http://127.0.0.1:${port}/mcp`;

/** Starts it on this port of 127.0.0.1. Its identifier at the issuer is its address. */
export async function startMcpServer({ issuer, port }: { issuer: string; port: number }) {
  const resource = mcpAddress(port);
  const { answerMetadata, caller } = protect({ resource, issuer, scopes: SCOPES });
  const notes = new Map<string, string[]>();
  const server = createServer((request, response) => {
    answer().catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`);
      if (!response.headersSent) response.writeHead(500);
      response.end();
    });

    async function answer(): Promise<void> {
      if (answerMetadata(request, response)) return;
      if (request.url?.split('?', 1)[0] !== '/mcp') return void response.writeHead(404).end();
      const body = request.method === 'POST' ? await bodyOf(request) : '';
      if (body === undefined) return void response.writeHead(413, { connection: 'close' }).end();
      const message = parsed(body);
      const who = await caller(request, response, needOf(message));
      if (!who) return;
      // Nothing is kept between requests, so any number of servers can answer.
      const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined } as never);
      response.once('close', () => void transport.close());
      await toolsOf(who, notes).connect(transport as never);
      await transport.handleRequest(request as IncomingMessage, response, message);
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return {
    resource,
    async close(): Promise<void> {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Undefined for one that is too long, whatever its length was said to be. */
async function bodyOf(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_BYTES) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks).toString();
}

function parsed(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

function needOf(message: unknown): Need {
  const { method, params } = (message ?? {}) as { method?: string; params?: { name?: string } };
  const need = method === 'tools/call' ? needs[params?.name ?? ''] : undefined;
  return need ?? { scope: 'notes:read' };
}

/** The tools, for this caller. */
function toolsOf({ subject, applications }: Caller, notes: Map<string, string[]>): McpServer {
  const own = notes.get(subject) ?? [];
  const server = new McpServer({ name: 'notes', version: '1.0.0' });
  const said = (text: string) => ({ content: [{ type: 'text' as const, text }] });
  server.registerTool('list_notes', { description: 'Lists your notes' }, async () =>
    said(own.join('\n') || 'There are no notes.'),
  );
  server.registerTool(
    'add_note',
    { description: 'Adds a note', inputSchema: { text: z.string().max(1000) } },
    async ({ text }) => {
      notes.set(subject, [...own, text].slice(-100));
      return said('Added.');
    },
  );
  server.registerTool('delete_notes', { description: 'Deletes all your notes' }, async () => {
    notes.delete(subject);
    return said(`Deleted ${own.length}.`);
  });
  server.registerTool('whoami', { description: 'Says who asks, and by which application' }, async () =>
    said(JSON.stringify({ subject, applications })),
  );
  return server;
}
