/** A Redis and an S3 store for a single test, which may break them. */
import { distributed } from './engine.ts';
import { startRedis } from './redis.ts';
import { startS3 } from './s3.ts';

export async function startOwnStores(redisSettings: readonly string[] = []) {
  const [redis, s3] = await Promise.all([startRedis(redisSettings), startS3()]);
  Object.assign(process.env, s3.env);
  let s3Runs = true;
  const stopS3 = async () => {
    if (s3Runs) await s3.stop();
    s3Runs = false;
  };
  return {
    redis,
    s3: { stop: stopS3 },
    /** For servers on them: all that are started with these share everything. */
    settings: distributed({ redis: redis.url, s3: s3.endpoint, bucket: s3.bucket }),
    async stop() {
      await Promise.all([redis.stop(), stopS3()]);
    },
  };
}
