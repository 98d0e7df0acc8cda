// `ISSUER=https://id.example.com PORT=4003 npx tsx examples/mcp-server/main.ts`; docs/agents.md says how it is registered.
import { startMcpServer } from './server.ts';

const { ISSUER: issuer = 'http://localhost:3000', PORT: port = '4003' } = process.env;
const { resource } = await startMcpServer({ issuer, port: Number(port) });
process.stdout.write(`The MCP server is at ${resource}\n`);
