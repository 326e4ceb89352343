// A tool server that does not end with its input, as many do not: it keeps a timer. One argument: its name.
const lines = require('readline').createInterface({ input: process.stdin });
const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\n');
const name = process.argv[2];
process.stdout.on('error', () => {});
setInterval(() => {}, 1 << 30);
lines.on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') {
    say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name, version: '1' } });
  } else if (method === 'tools/list') {
    say(id, { tools: [{ name: 'look', description: 'looks', inputSchema: { type: 'object', properties: {} } }] });
  } else if (id !== undefined) {
    say(id, { content: [{ type: 'text', text: 'seen' }] });
  }
});
