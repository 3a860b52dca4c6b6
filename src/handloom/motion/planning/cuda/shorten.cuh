// Shortcuts on the path in shared memory; rows move column by column, so that no thread waits for another's column.
#pragma once

DEVICE bool rows_join(const Search& s, const Job& job, Room& room, int i, int j) {
    return edge_is_free(s.robots, s.worlds, room, job.padding, job.per_unit, room.path[i], room.path[j]);
}

// Move the rows from ``first`` on by ``shift`` places.
DEVICE void move_tail(Room& room, int count, int first, int shift, int joints) {
    int i = lane_index();
    if (i < joints) {
        if (shift < 0)
            for (int k = first; k < count; k++) room.path[k + shift][i] = room.path[k][i];
        else if (shift > 0)
            for (int k = count - 1; k >= first; k--) room.path[k + shift][i] = room.path[k][i];
    }
    tile_sync();
}

DEVICE void copy_row(Room& room, int from, int to, int joints) {
    if (lane_index() < joints) room.path[to][lane_index()] = room.path[from][lane_index()];
    tile_sync();
}

// Drop every waypoint whose neighbours can be joined directly.
DEVICE int thin(const Search& s, const Job& job, Room& room, int count) {
    int kept = 0, joints = room.problem.joints;
    for (int k = 1; k < count - 1; k++)
        if (!rows_join(s, job, room, kept, k + 1)) copy_row(room, k, ++kept, joints);
    copy_row(room, count - 1, kept + 1, joints);
    return kept + 2;
}

// Go from each waypoint straight to the furthest later one that can be reached.
DEVICE int skip_waypoints(const Search& s, const Job& job, Room& room, int count) {
    for (int i = 0; i < count - 2; i++)
        for (int j = count - 1; j > i + 1; j--)
            if (rows_join(s, job, room, i, j)) {
                move_tail(room, count, j, i + 1 - j, room.problem.joints);
                count -= j - i - 1;
                break;
            }
    return count;
}

// Write the point of the path at a distance along it; return the waypoint before it.
DEVICE int place_at(Room& room, int count, float distance, int joints, float* q) {
    int i = 0, lane = lane_index();
    while (i < count - 2 && room.lengths[i + 1] < distance) i++;
    float fraction = (distance - room.lengths[i]) / fmaxf(room.lengths[i + 1] - room.lengths[i], 1e-12f);
    if (lane < joints) q[lane] = room.path[i][lane] + fraction * (room.path[i + 1][lane] - room.path[i][lane]);
    return i;
}

DEVICE_CALL int shorten(const Search& s, const Job& job, Room& room, int count) {
    int joints = room.problem.joints, lane = lane_index();
    u64 drawn = 0;
    for (int attempt = 0; attempt < job.shortcuts; attempt++) {
        if (attempt % GREEDY_EVERY == 0)
            count = count > GREEDY_MOST ? thin(s, job, room, count) : skip_waypoints(s, job, room, count);
        if (count < 3) break;
        if (lane == 0) {
            room.lengths[0] = 0.0f;
            for (int k = 1; k < count; k++) {
                float squared = 0.0f;
                for (int i = 0; i < joints; i++) {
                    float d = room.path[k][i] - room.path[k - 1][i];
                    squared += d * d;
                }
                room.lengths[k] = room.lengths[k - 1] + sqrtf(squared);
            }
        }
        tile_sync();
        float total = room.lengths[count - 1];
        float u = (float)uniform(job.seed + 1, drawn) * total, v = (float)uniform(job.seed + 1, drawn + 1) * total;
        drawn += 2;
        int i = place_at(room, count, fminf(u, v), joints, room.from);
        int j = place_at(room, count, fmaxf(u, v), joints, room.fresh);
        tile_sync();
        int shift = i + 2 - j;
        if (i == j || count + shift > PATH) continue;
        if (edge_is_free(s.robots, s.worlds, room, job.padding, job.per_unit, room.from, room.fresh)) {
            // New order: ..., i, from, fresh, j + 1, ...
            move_tail(room, count, j + 1, shift, joints);
            if (lane < joints) room.path[i + 1][lane] = room.from[lane], room.path[i + 2][lane] = room.fresh[lane];
            tile_sync();
            count += shift;
        }
    }
    return skip_waypoints(s, job, room, count);
}
