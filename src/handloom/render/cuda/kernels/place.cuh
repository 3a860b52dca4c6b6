// Placement: geoms as every shadow light and every eye sees them; see cpu/model/placement.py and outline.py. One thread
// per geom.
#pragma once

#define FAR_AWAY 1e9
#define CORNERS 8
#define CUTS 6

// The bounding box of a geom in its frame; that of beads moves with them.
DEVICE void read_box(const Model& model, const World& world, int g, const float* row, float* box) {
    const float* from = (int)row[G_TYPE] == BEADS ? world.poses + model.geom_count * POSE : row + G_BOX;
    const float* half = (int)row[G_TYPE] == BEADS ? from + 3 : row + G_HALF;
    for (int i = 0; i < 3; i++) box[i] = from[i], box[3 + i] = half[i];
}

DEVICE void place_box(const float* pose, const float* box, bool endless, float* out) {
    for (int i = 0; i < 9; i++) out[i] = pose[i];
    for (int i = 0; i < 3; i++) {
        double center = pose[9 + i];
        for (int j = 0; j < 3; j++) center += (double)pose[3 * i + j] * box[j];
        out[X_CENTER + i] = endless ? pose[9 + i] : (float)center;
        out[X_HALF + i] = endless ? BIG : box[3 + i];
    }
}

DEVICE void extent(const double* u, const double* v, double x, double y, float* low, float* high) {
    double a = FAR_AWAY, b = -FAR_AWAY;
    for (int k = 0; k < CORNERS; k++) {
        double value = x * u[k] + y * v[k];
        a = fmin(a, value), b = fmax(b, value);
    }
    *low = (float)a, *high = (float)b;
}

DEVICE void place_caster(const float* pose, const float* box, const float* light, float* out) {
    for (int j = 0; j < 3; j++) {
        double here = 0.0;
        for (int i = 0; i < 3; i++) here += pose[3 * i + j] * (light[L_POS + i] - pose[9 + i]);
        out[K_POS + j] = (float)here;
    }
    double u[CORNERS], v[CORNERS], nearest = FAR_AWAY;
    for (int k = 0; k < CORNERS; k++) {
        float x = box[0] + (k & 1 ? box[3] : -box[3]), y = box[1] + (k & 2 ? box[4] : -box[4]);
        float z = box[2] + (k & 4 ? box[5] : -box[5]);
        double a = 0.0, b = 0.0, w = 0.0;
        for (int i = 0; i < 3; i++) {
            float d = light[L_POS + i] - pose[9 + i];
            d -= pose[3 * i] * x + pose[3 * i + 1] * y + pose[3 * i + 2] * z;
            a += light[L_U + i] * d, b += light[L_V + i] * d, w += light[L_W + i] * d;
        }
        nearest = fmin(nearest, w);
        w = fmax(w, PLACE_LIGHT_NEAR);
        u[k] = a / w, v[k] = b / w;
    }
    double x = 1.0, y = 0.0;
    if (nearest < PLACE_LIGHT_NEAR) {
        for (int k = 0; k < 2; k++) {
            out[K_LEFT + 2 * k] = out[K_ALONG_LOW + 2 * k] = (float)-FAR_AWAY;
            out[K_RIGHT + 2 * k] = out[K_ALONG_HIGH + 2 * k] = (float)FAR_AWAY;
        }
        out[K_INVERSE] = (float)FAR_AWAY;
    } else {
        int axis = 0;
        for (int j = 1; j < 3; j++)
            if (box[3 + j] > box[3 + axis]) axis = j;
        double dx = u[1 << axis] - u[0], dy = v[1 << axis] - v[0];
        double length = sqrt(dx * dx + dy * dy);
        if (length > 1e-6) x = dx / length, y = dy / length;
        extent(u, v, 1.0, 0.0, out + K_LEFT, out + K_RIGHT);
        extent(u, v, 0.0, 1.0, out + K_TOP, out + K_BOTTOM);
        extent(u, v, x, y, out + K_ALONG_LOW, out + K_ALONG_HIGH);
        extent(u, v, -y, x, out + K_ACROSS_LOW, out + K_ACROSS_HIGH);
        out[K_INVERSE] = (float)(1.0 / nearest);
    }
    out[K_DIRECTION] = (float)x, out[K_DIRECTION + 1] = (float)y;
}

DEVICE void place_in_world(const Model& model, const World& world, int g) {
    const float* row = model.geoms + g * GEOM_COLUMNS;
    const float* pose = world.poses + g * POSE;
    float box[6];
    read_box(model, world, g, row, box);
    place_box(pose, box, (int)row[G_TYPE] == PLANE, world.boxes + g * BOX_COLUMNS);
    for (int k = 0; k < model.light_count; k++) {
        const float* light = world.lights + k * LIGHT_COLUMNS;
        if (!SHADOWS || light[L_SHADOW] == 0.0f) continue;
        float* out = world.casters + ((long long)k * model.geom_count + g) * CASTER_COLUMNS;
        if (row[G_CASTS] == 0.0f) out[K_INVERSE] = (float)-FAR_AWAY;
        else place_caster(pose, box, light, out);
    }
}

// Points of a box in the camera frame, then, where they are before it, in tile columns and rows.
struct Outline {
    double x[CORNERS + CUTS], y[CORNERS + CUTS], z[CORNERS + CUTS];
    int from[CUTS], to[CUTS];  // Corners of the edge that each cut lies on.
    int end;
};

DEVICE void make_outline(Outline& o, const float* seen, const float* box, const float* view, double near) {
    for (int k = 0; k < CORNERS; k++) {
        float x = box[0] + (k & 1 ? box[3] : -box[3]) - seen[S_EYE];
        float y = box[1] + (k & 2 ? box[4] : -box[4]) - seen[S_EYE + 1];
        float z = box[2] + (k & 4 ? box[5] : -box[5]) - seen[S_EYE + 2];
        o.x[k] = seen[S_RAY_U] * x + seen[S_RAY_U + 1] * y + seen[S_RAY_U + 2] * z;
        o.y[k] = seen[S_RAY_V] * x + seen[S_RAY_V + 1] * y + seen[S_RAY_V + 2] * z;
        o.z[k] = seen[S_RAY_W] * x + seen[S_RAY_W + 1] * y + seen[S_RAY_W + 2] * z;
    }
    o.end = CORNERS;
    for (int k = 0; k < CORNERS; k++)
        for (int bit = 0; bit < 3; bit++) {
            int m = k ^ (1 << bit);
            if (!(o.z[k] < near && near <= o.z[m])) continue;
            double part = (near - o.z[k]) / (o.z[m] - o.z[k]);
            o.from[o.end - CORNERS] = k, o.to[o.end - CORNERS] = m;
            o.x[o.end] = o.x[k] + part * (o.x[m] - o.x[k]);
            o.y[o.end] = o.y[k] + part * (o.y[m] - o.y[k]);
            o.z[o.end] = near;
            o.end++;
        }
    for (int k = 0; k < o.end; k++)
        if (o.z[k] >= near) {
            o.x[k] = (view[V_CX] + o.x[k] / (view[V_INV_FX] * o.z[k])) / TILE_WIDTH;
            o.y[k] = (view[V_CY] + o.y[k] / (view[V_INV_FY] * o.z[k])) / TILE_HEIGHT;
        }
}

// Widen the interval of a row of tiles by the edge between two projected points, if it crosses the row.
DEVICE void widen(const Outline& o, int j, int k, int row, int rows, double& low, double& high) {
    int a = o.y[j] <= o.y[k] ? j : k, b = a == j ? k : j;
    double xa = o.x[a], ya = o.y[a], xb = o.x[b], yb = o.y[b];
    if (row < floor(fmin(fmax(ya, -1.0), rows + 1.0)) || row > floor(fmin(fmax(yb, -1.0), rows + 1.0))) return;
    double rise = yb - ya;
    double x0 = xa, x1 = xb;
    if (rise > 1e-9) {
        double slope = (xb - xa) / rise;
        x0 = xa + (fmax(ya, (double)row) - ya) * slope;
        x1 = xa + (fmin(yb, row + 1.0) - ya) * slope;
    }
    low = fmin(low, fmin(x0, x1)), high = fmax(high, fmax(x0, x1));
}

DEVICE void span_of_row(const Outline& o, double near, int row, int rows, double& low, double& high) {
    for (int k = 0; k < CORNERS; k++)
        for (int bit = 0; bit < 3; bit++) {
            int m = k ^ (1 << bit);
            if (k < m && o.z[k] >= near && o.z[m] >= near) widen(o, k, m, row, rows, low, high);
        }
    for (int k = CORNERS; k < o.end; k++) {
        widen(o, k, o.to[k - CORNERS], row, rows, low, high);
        for (int m = CORNERS; m < k; m++) widen(o, k, m, row, rows, low, high);
    }
}

DEVICE void place_in_view(const Model& model, const World& world, const Eye& eye, int g) {
    const float* row = model.geoms + g * GEOM_COLUMNS;
    const float* pose = world.poses + g * POSE;
    float* seen = eye.seen + g * SEEN_COLUMNS;
    int rows = (eye.height + TILE_HEIGHT - 1) / TILE_HEIGHT, columns = (eye.width + TILE_WIDTH - 1) / TILE_WIDTH;
    seen[S_INSIDE] = row[G_BODY] == eye.body ? 0.0f : 1.0f;
    for (int j = 0; j < 3; j++) {
        float o = 0.0f, u = 0.0f, v = 0.0f, w = 0.0f;
        for (int i = 0; i < 3; i++) {
            float r = pose[3 * i + j];
            o += r * (eye.row[V_EYE + i] - pose[9 + i]);
            u += r * eye.row[V_AXES + 3 * i];
            v += r * eye.row[V_AXES + 3 * i + 1];
            w += r * eye.row[V_AXES + 3 * i + 2];
        }
        seen[S_EYE + j] = o, seen[S_RAY_U + j] = u, seen[S_RAY_V + j] = v, seen[S_RAY_W + j] = w;
    }
    if ((int)row[G_TYPE] == PLANE) {
        for (int r = 0; r < rows; r++) {
            eye.spans[2 * ((long long)r * model.geom_count + g)] = 0;
            eye.spans[2 * ((long long)r * model.geom_count + g) + 1] = (ushort_t)columns;
        }
        seen[S_DEPTH] = (float)-FAR_AWAY;
        return;
    }
    float box[6];
    read_box(model, world, g, row, box);
    Outline o;
    double near = fmax(BEFORE_NEAR * eye.row[V_NEAR], LEAST_NEAR);
    make_outline(o, seen, box, eye.row, near);
    double depth = FAR_AWAY;
    for (int k = 0; k < CORNERS; k++) depth = fmin(depth, o.z[k]);
    seen[S_DEPTH] = (float)(depth > 0.0 ? DEPTH_CLOSER * depth - DEPTH_BEFORE : -FAR_AWAY);
    for (int r = 0; r < rows; r++) {
        double low = FAR_AWAY, high = -FAR_AWAY;
        span_of_row(o, near, r, rows, low, high);
        ushort_t* span = eye.spans + 2 * ((long long)r * model.geom_count + g);
        span[0] = (ushort_t)(int)floor(fmin(fmax(low, 0.0), (double)columns));
        span[1] = (ushort_t)((int)floor(fmin(fmax(high, -1.0), columns - 1.0)) + 1);
    }
}
