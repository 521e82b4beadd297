// Node loads rowgraph and what it needs; nothing of it is bundled.
const config = { serverExternalPackages: ['rowgraph'] };

export default config;
