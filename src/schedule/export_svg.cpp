// Colours are those of Okabe and Ito, distinct for colour-blind readers, and no meaning rests on
// colour alone: combination, local steps and gates differ in shape too.
#include "schedule/export_svg.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <vector>

#include "schedule/space_time.hpp"

namespace sibyl {
namespace {

constexpr const char* message_colour = "#0072B2";
constexpr const char* control_colour = "#8a8a8a";
constexpr const char* combine_colour = "#D55E00";
constexpr const char* local_colour = "#009E73";
constexpr const char* early_colour = "#CC79A7";

// In any locale.
std::string text_of(double value) {
  std::array<char, 32> digits{};
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value,
                                  std::chars_format::fixed, 1)
                        .ptr;
  return {digits.data(), end};
}

class SvgWriter {
 public:
  explicit SvgWriter(const Plan& plan) : plan_(plan), place_(place_steps(plan)) { lay_out(); }

  std::string write() {
    draw_frame();
    for (std::size_t r = 0; r < plan_.programs.size(); ++r) draw_messages(r);
    for (std::size_t r = 0; r < plan_.programs.size(); ++r) draw_marks(r);
    if (labels_) {
      for (std::size_t r = 0; r < plan_.programs.size(); ++r) draw_labels(r);
    }
    draw_legend();
    std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + text_of(width_) +
                      "\" height=\"" + text_of(height_) + "\" viewBox=\"0 0 " + text_of(width_) +
                      " " + text_of(height_) + "\" font-family=\"sans-serif\">\n";
    return svg + out_ + "</svg>\n";
  }

 private:
  void lay_out() {
    const auto ranks = static_cast<double>(plan_.programs.size());
    std::uint32_t slots = 0;
    for (const std::uint32_t levels : place_.levels) slots += levels;
    labels_ = ranks <= 12 && slots <= 60;
    slot_ = std::clamp(1100.0 / std::max(slots, 1U), labels_ ? 44.0 : 13.0, 90.0);
    row_ = std::clamp(900.0 / ranks, 5.0, 46.0);
    mark_ = std::clamp(row_ * 0.17, 1.6, 6.0);
    stroke_ = std::clamp(row_ * 0.05, 0.6, 1.8);
    double x = left_;
    for (const std::uint32_t levels : place_.levels) {
      columns_.push_back(x);
      x += levels * slot_;
    }
    columns_.push_back(x);
    width_ = std::max(x + 24.0, 640.0);
    bottom_ = top_ + row_ * ranks;
  }

  double y_of(std::size_t rank) const { return top_ + row_ * (static_cast<double>(rank) + 0.5); }
  double x_of(std::size_t rank, std::size_t step) const {
    const std::size_t number = place_.first_step[rank] + step;
    return columns_[place_.column[number]] + slot_ * (place_.level[number] + 0.5);
  }

  void text(double x, double y, double size, const std::string& content, const char* anchor,
            const std::string& more = "") {
    out_ += "<text x=\"" + text_of(x) + "\" y=\"" + text_of(y) + "\" font-size=\"" + text_of(size) +
            "\" text-anchor=\"" + anchor + "\" " + more + ">" + content + "</text>\n";
  }
  void line(double x1, double y1, double x2, double y2, const std::string& style) {
    out_ += "<line x1=\"" + text_of(x1) + "\" y1=\"" + text_of(y1) + "\" x2=\"" + text_of(x2) +
            "\" y2=\"" + text_of(y2) + "\" " + style + "/>\n";
  }

  void draw_frame() {
    const PlanHeader& header = plan_.header;
    out_ += "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
    std::string title = std::string(name_of(header.collective)) + ", " +
                        std::string(header.algorithm) + ": " + std::to_string(header.ranks) +
                        (header.ranks == 1 ? " rank, " : " ranks, ");
    if (has_root(header.collective)) {
      title += "root " + std::to_string(header.root) + ", ";
    }
    title += std::to_string(header.rounds) + (header.rounds == 1 ? " round" : " rounds");
    text(left_ - 46, 26, 17, title, "start", "font-weight=\"bold\" fill=\"#222\"");
    for (std::size_t k = 0; k < place_.rounds.size(); ++k) {
      if (k % 2 == 0) {
        out_ += "<rect x=\"" + text_of(columns_[k]) + "\" y=\"" + text_of(top_ - 4) +
                "\" width=\"" + text_of(columns_[k + 1] - columns_[k]) + "\" height=\"" +
                text_of(bottom_ - top_ + 8) + "\" fill=\"#f2f4f7\"/>\n";
      }
      const double room = columns_[k + 1] - columns_[k];
      const std::string label = (room >= 64 ? "round " : "") + std::to_string(place_.rounds[k]);
      text((columns_[k] + columns_[k + 1]) / 2, top_ - 12, room >= 64 ? 12 : 10, label, "middle",
           "fill=\"#444\"");
    }
    if (!columns_.empty() && columns_[1 < columns_.size() ? 1 : 0] - columns_[0] < 64) {
      text(left_ - 12, top_ - 12, 10, "round", "end", "fill=\"#444\"");
    }
    const auto ranks = plan_.programs.size();
    const auto every = static_cast<std::size_t>(std::ceil(11.0 / row_));
    for (std::size_t r = 0; r < ranks; ++r) {
      line(left_, y_of(r), columns_.back(), y_of(r),
           "stroke=\"#b8bec6\" stroke-width=\"" + text_of(std::max(0.5, stroke_ * 0.7)) + "\"");
      if (r % every != 0) continue;
      const bool root = has_root(header.collective) && static_cast<std::size_t>(header.root) == r;
      const double size = std::clamp(row_ * 0.6, 9.0, 13.0);
      text(left_ - 8, y_of(r) + size * 0.35, size, (root ? "root " : "") + std::to_string(r), "end",
           root ? "font-weight=\"bold\" fill=\"#222\"" : "fill=\"#222\"");
    }
  }

  void draw_messages(std::size_t rank) {
    const auto& steps = plan_.programs[rank].steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps[i].kind != StepKind::send) continue;
      const auto to = static_cast<std::size_t>(steps[i].peer);
      const std::size_t other = place_.partner[place_.first_step[rank] + i] - place_.first_step[to];
      const bool control = steps[i].slice.range.count == 0;
      const char* colour = control ? control_colour : message_colour;
      // The point stops short of the mark of a combination.
      const bool combines = plan_.programs[to].steps[other].kind == StepKind::receive_combine;
      arrow(x_of(rank, i), y_of(rank), x_of(to, other), y_of(to), colour, control,
            combines ? mark_ : 0);
      (control ? any_control_ : any_message_) = true;
      any_early_ |= steps[i].gate == Gate::on_start;
    }
  }

  void arrow(double x1, double y1, double x2, double y2, const char* colour, bool dashed,
             double gap = 0) {
    // Not std::hypot: a wheel that needs it runs only where the C library is of 2022 or later.
    const double length = std::sqrt((x2 - x1) * (x2 - x1) + (y2 - y1) * (y2 - y1));
    const double ux = (x2 - x1) / length;
    const double uy = (y2 - y1) / length;
    const double head = std::clamp(row_ * 0.26, 4.0, 9.0);
    const double ex = x2 - ux * gap;
    const double ey = y2 - uy * gap;
    const double bx = ex - ux * head;
    const double by = ey - uy * head;
    line(x1, y1, bx, by,
         "stroke=\"" + std::string(colour) + "\" stroke-width=\"" + text_of(stroke_) + "\"" +
             (dashed ? " stroke-dasharray=\"3 3\"" : ""));
    out_ += "<path d=\"M" + text_of(ex) + " " + text_of(ey) + "L" + text_of(bx - uy * head * 0.4) +
            " " + text_of(by + ux * head * 0.4) + "L" + text_of(bx + uy * head * 0.4) + " " +
            text_of(by - ux * head * 0.4) + "Z\" fill=\"" + colour + "\"/>\n";
  }

  void dot(double x, double y, double radius, const char* fill, const char* edge) {
    out_ += "<circle cx=\"" + text_of(x) + "\" cy=\"" + text_of(y) + "\" r=\"" + text_of(radius) +
            "\" fill=\"" + fill + "\" stroke=\"" + edge + "\" stroke-width=\"" + text_of(stroke_) +
            "\"/>\n";
  }
  void box(double x, double y, double half, const char* fill, double turn) {
    out_ += "<rect x=\"" + text_of(x - half) + "\" y=\"" + text_of(y - half) + "\" width=\"" +
            text_of(2 * half) + "\" height=\"" + text_of(2 * half) + "\" fill=\"" + fill +
            "\" transform=\"rotate(" + text_of(turn) + " " + text_of(x) + " " + text_of(y) +
            ")\"/>\n";
  }
  void mark(StepKind kind, double x, double y, double size) {
    switch (kind) {
      case StepKind::send:
        dot(x, y, size * 0.45, message_colour, message_colour);
        break;
      case StepKind::receive:
        break;
      case StepKind::receive_combine:
        dot(x, y, size, combine_colour, combine_colour);
        break;
      case StepKind::copy:
        box(x, y, size * 0.8, local_colour, 0);
        break;
      case StepKind::combine:
        box(x, y, size * 0.85, combine_colour, 45);
        break;
    }
  }

  void draw_marks(std::size_t rank) {
    const auto& steps = plan_.programs[rank].steps;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const double x = x_of(rank, i);
      if (steps[i].gate == Gate::on_start) {
        dot(x, y_of(rank), mark_ * 1.5, "none", early_colour);
        any_early_ = true;
      }
      any_receive_combine_ |= steps[i].kind == StepKind::receive_combine;
      any_copy_ |= steps[i].kind == StepKind::copy;
      any_combine_ |= steps[i].kind == StepKind::combine;
      mark(steps[i].kind, x, y_of(rank), mark_);
    }
  }

  std::string label_of(const Program& program, const Slice& slice) const {
    if (slice.range.count == 0) return "go";
    std::string label(name_of(slice.buffer));
    if (plan_.header.partition == Partition::vector && plan_.header.segments == 1) return label;
    label += ' ';
    bool first = true;
    for (const Range& range : program.ranges_of(slice)) {
      if (!first) label += ',';
      first = false;
      label += std::to_string(range.first);
      if (range.count > 1) label += "-" + std::to_string(range.first + range.count - 1);
      if (label.size() > 16) return label + ",...";
    }
    return label;
  }

  void draw_labels(std::size_t rank) {
    const Program& program = plan_.programs[rank];
    for (std::size_t i = 0; i < program.steps.size(); ++i) {
      if (program.steps[i].kind != StepKind::send) continue;
      // On the side of the line that the arrow leaves free.
      const bool downwards = program.steps[i].peer > static_cast<Rank>(rank);
      const double away = program.steps[i].gate == Gate::on_start ? mark_ : 0;
      text(x_of(rank, i), y_of(rank) + (downwards ? -7 - away : 14 + away), 9,
           label_of(program, program.steps[i].slice), "middle",
           "fill=\"#333\" stroke=\"white\" stroke-width=\"2.5\" paint-order=\"stroke\"");
    }
  }

  void draw_legend() {
    double x = left_ - 46;
    double y = bottom_ + 30;
    const auto entry = [&](bool used, const std::string& label, auto draw) {
      if (!used) return;
      const double room = 46 + 6.3 * static_cast<double>(label.size());
      if (x + room > width_ && x > left_) {
        x = left_ - 46;
        y += 20;
      }
      draw(x + 12, y - 4);
      text(x + 30, y, 11, label, "start", "fill=\"#222\"");
      x += room;
    };
    row_ = 30;
    mark_ = 4.5;
    stroke_ = 1.4;
    entry(any_message_, "message",
          [&](double a, double b) { arrow(a - 10, b, a + 14, b, message_colour, false); });
    entry(any_control_, "control message, no data",
          [&](double a, double b) { arrow(a - 10, b, a + 14, b, control_colour, true); });
    entry(any_receive_combine_, "receive and combine",
          [&](double a, double b) { mark(StepKind::receive_combine, a, b, mark_); });
    entry(any_copy_, "copy", [&](double a, double b) { mark(StepKind::copy, a, b, mark_); });
    entry(any_combine_, "combine locally",
          [&](double a, double b) { mark(StepKind::combine, a, b, mark_); });
    entry(any_early_, "ring: may run before this rank arrives",
          [&](double a, double b) { dot(a, b, mark_ * 1.5, "none", early_colour); });
    height_ = y + 20;
  }

  const Plan& plan_;
  SpaceTime place_;
  std::string out_;
  const double left_ = 64;
  const double top_ = 66;
  double bottom_ = 0;
  double width_ = 0;
  double height_ = 0;
  double slot_ = 0;
  double row_ = 0;
  double mark_ = 0;
  double stroke_ = 0;
  bool labels_ = false;
  std::vector<double> columns_;
  bool any_message_ = false;
  bool any_control_ = false;
  bool any_receive_combine_ = false;
  bool any_copy_ = false;
  bool any_combine_ = false;
  bool any_early_ = false;
};

}  // namespace

std::string export_svg(const Plan& plan) { return SvgWriter(plan).write(); }

}  // namespace sibyl
