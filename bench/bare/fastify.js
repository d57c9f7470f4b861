/** A bare Fastify with one route. `fastify.js PORT` */
import { fastify } from 'fastify';

const app = fastify();
app.get('/api/health', async () => ({ status: 'healthy' }));
await app.listen({ port: Number(process.argv[2]), host: '127.0.0.1' });
